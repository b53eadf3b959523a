// The classics of the Savina suite as Go has them: a goroutine for each actor, with a channel in front of it.
//
// What they do, and how it is verified, is what the Rust programs do (crates/tamtam-lab/src/experiments/savina).
package main

import (
	"fmt"
	"sync"
	"time"
)

// No more messages than actors are ever on their way to one of them in `big` and `chameneos`, so that nobody who waits for
// room keeps somebody else waiting for him.
const savinaCapacity = 128

// A message of any of them: what it is, who sent it, and up to two numbers.
type line struct {
	what         uint8
	from         int32
	number, more uint32
}

const (
	start uint8 = iota
	ping
	pong
	come
	meet
	change
	closed
	howMany
)

// A round of an experiment.
type classic struct {
	name    string
	count   uint64
	actors  []chan line
	ended   sync.WaitGroup
	reports chan report
}

// What an actor says when it is done.
type report struct {
	operations uint64
	fault      error
}

var classics = []struct {
	name  string
	count uint64
	run   func(*classic) int
	begin func(*classic)
}{
	{"counting", 1_000_000, counting, func(c *classic) { c.actors[0] <- line{what: start} }},
	{"fork-join", 600_000, forkJoin, beginForkJoin},
	{"threadring", 100_000, threadring, func(c *classic) { c.actors[0] <- line{} }},
	{"big", 240_000, big, beginAll},
	{"chameneos", 200_000, chameneos, beginAll},
}

// Starts an actor that does `handle` for each message until its channel is closed.
func (c *classic) spawn(handle func(line)) {
	in := make(chan line, savinaCapacity)
	c.actors = append(c.actors, in)
	c.ended.Add(1)
	go func() {
		defer c.ended.Done()
		for message := range in {
			handle(message)
		}
	}()
}

func beginAll(c *classic) {
	for _, actor := range c.actors {
		actor <- line{what: start}
	}
}

func (c *classic) fault(format string, words ...any) {
	c.reports <- report{fault: fmt.Errorf(format, words...)}
}

func counting(c *classic) int {
	const numbers = 1_000_000
	c.spawn(func(message line) {
		if message.what != start {
			c.reports <- report{operations: uint64(message.number)}
			return
		}
		for number := uint32(0); number < numbers; number++ {
			c.actors[1] <- line{what: ping, number: number}
		}
		c.actors[1] <- line{what: howMany}
	})
	counted := uint32(0)
	c.spawn(func(message line) {
		if message.what == howMany {
			c.actors[0] <- line{what: pong, number: counted}
			return
		}
		if message.number != counted {
			c.fault("%d came where %d was due", message.number, counted)
		}
		counted++
	})
	return 1
}

const forkJoinMessages = 10_000

func forkJoin(c *classic) int {
	const actors = 60
	for position := 0; position < actors; position++ {
		handled := uint32(0)
		c.spawn(func(message line) {
			if message.number != handled {
				c.fault("%d came where %d was due", message.number, handled)
			}
			handled++
			if handled == forkJoinMessages {
				c.reports <- report{operations: forkJoinMessages}
			}
		})
	}
	return actors
}

func beginForkJoin(c *classic) {
	for number := uint32(0); number < forkJoinMessages; number++ {
		for _, actor := range c.actors {
			actor <- line{number: number}
		}
	}
}

func threadring(c *classic) int {
	const actors, hops = 100, 100_000
	for position := uint32(0); position < actors; position++ {
		due := position
		next := (position + 1) % actors
		c.spawn(func(message line) {
			if message.number != due {
				c.fault("hop %d came where %d was due", message.number, due)
			}
			due += actors
			if message.number+1 == hops {
				c.reports <- report{operations: hops}
			} else {
				c.actors[next] <- line{number: message.number + 1}
			}
		})
	}
	return 1
}

func big(c *classic) int {
	const actors, pings = 120, 2000
	for place := int32(0); place < actors; place++ {
		position := place
		sent, answered, random := uint32(0), uint32(0), uint32(0x9E3779B9)^uint32(position)
		next := func() {
			if sent == pings {
				c.reports <- report{operations: pings}
				return
			}
			// Marsaglia's generator ("Xorshift RNGs", 2003), as in the other programs.
			random ^= random << 13
			random ^= random >> 17
			random ^= random << 5
			to := (uint32(position) + 1 + random%(actors-1)) % actors
			sent++
			c.actors[to] <- line{what: ping, from: position, number: sent - 1, more: to}
		}
		c.spawn(func(message line) {
			switch {
			case message.what == ping && message.more == uint32(position):
				c.actors[message.from] <- line{what: pong, number: message.number, more: uint32(message.from)}
			case message.what == pong && message.more == uint32(position) && message.number == answered:
				answered++
				next()
			case message.what == start && sent == 0:
				next()
			default:
				c.fault("%v came where the answer to ping %d was due", message, answered)
			}
		})
	}
	return actors
}

// The third colour of 0, 1 and 2, or the same if both are the same.
func met(one, other uint32) uint32 {
	if one == other {
		return one
	}
	return 3 - one - other
}

func chameneos(c *classic) int {
	const creatures, meetings = 100, 200_000
	const visitors = creatures + 1
	left, waiting := meetings, line{}
	c.spawn(func(message line) {
		switch {
		case message.what == start:
		case message.what != come:
			c.fault("%v came to the mall", message)
		case left == 0:
			c.actors[message.number%visitors] <- line{what: closed, number: message.number}
		case waiting.what == 0:
			waiting = message
		default:
			left--
			// The one who waits learns who has come, and of which colour.
			c.actors[waiting.number%visitors] <- line{what: meet, number: waiting.number, from: int32(message.number), more: message.more}
			waiting = line{}
		}
	})
	for place := uint32(1); place <= creatures; place++ {
		position := place
		colour, visit, times, gone := position%3, uint32(0), uint64(0), false
		visitAgain := func(number uint32) {
			visit = number
			c.actors[0] <- line{what: come, number: visit, more: colour}
		}
		c.spawn(func(message line) {
			switch {
			case message.what == start && visit == 0:
				visitAgain(position)
			case message.what == meet && message.number == visit && !gone:
				colour = met(colour, message.more)
				times++
				other := uint32(message.from)
				c.actors[other%visitors] <- line{what: change, number: other, more: colour}
				visitAgain(visit + visitors)
			case message.what == change && message.number == visit && !gone:
				colour = message.more
				times++
				visitAgain(visit + visitors)
			case message.what == closed && message.number == visit && !gone:
				gone = true
				c.reports <- report{operations: times}
			default:
				c.fault("%v came to creature %d on its visit %d", message, position, visit)
			}
		})
	}
	return creatures
}

func classicOf(experiment, variant string) (uint64, func() (times, error), error) {
	for _, one := range classics {
		if one.name != experiment {
			continue
		}
		if variant != fmt.Sprintf("%d/2cores", one.count) && variant != fmt.Sprintf("%d/1core", one.count) {
			return 0, nil, fmt.Errorf("no such variant: %q", variant)
		}
		round := func() (times, error) {
			c := &classic{name: one.name, count: one.count, reports: make(chan report, 256)}
			begin := time.Now()
			reporters := one.run(c)
			build := time.Since(begin)
			one.begin(c)
			var operations uint64
			for ; reporters > 0; reporters-- {
				report := <-c.reports
				if report.fault != nil {
					return times{}, report.fault
				}
				operations += report.operations
			}
			whole := time.Since(begin)
			for _, actor := range c.actors {
				close(actor)
			}
			c.ended.Wait()
			if one.name == "chameneos" {
				// Two meet.
				operations /= 2
			}
			if operations != one.count {
				return times{}, fmt.Errorf("%d operations were done where %d were due", operations, one.count)
			}
			if len(c.reports) > 0 {
				return times{}, fmt.Errorf("something came after the end")
			}
			return times{build, whole}, nil
		}
		return one.count, round, nil
	}
	return 0, nil, fmt.Errorf("no such experiment: %q", experiment)
}
