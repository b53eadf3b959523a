module tamtam/peers/go

go 1.19
