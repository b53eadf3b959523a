#!/bin/sh
# A stand-in for the peers' program in the tests of the lab's front end: it answers as the contract says, or breaks it
# in one way for each of its contenders. It measures nothing: its figures are made up, to be found again in the output.
#
#   steady      1,000 ns, then 1,010, then 1,020, ... one step a run
#   quick       always 500 ns
#   broken      ends with a reason and exit code 1
#   unverified  says itself that its deliveries were not verified
#   silent      ends well without a word
#   stuck       waits until it is killed
#
# It keeps a log beside itself: contender, variant, its process, and the busy neighbours that its parent has started.
folder=${0%/*}

if [ "$1 $2" = "contender list" ]; then
    for name in steady quick broken unverified silent stuck; do
        echo '{"contender":"'$name'","version":"7.0","ours":false,"experiment":"drumming",' \
            '"variants":["10/free","10/hog"],"about":"a stand-in"}'
    done
    exit
fi

experiment=$3
contender=$4
variant=$5

hogs=0
for process in /proc/[0-9]*; do
    if grep -qs "^PPid:[[:space:]]*$PPID\$" "$process/status" && tr '\0' ' ' <"$process/cmdline" | grep -q ' hog '; then
        hogs=$((hogs + 1))
    fi
done
echo "$contender $variant $$ $hogs" >>"$folder/log"

answer() {
    echo '{"experiment":"'"$experiment"'","variant":"'"$variant"'","contender":"'"$contender"'","version":"7.0",' \
        '"ours":false,"verified":'"$2"',"operations":10,"elapsed_ns":10000,' \
        '"metrics":[{"metric":"ns_per_op","unit":"ns","value":'"$1"'}],"note":null}'
}

case $contender in
steady) answer $((990 + 10 * $(grep -c "^steady $variant " "$folder/log"))) true ;;
quick) answer 500 true ;;
unverified) answer 1 false ;;
silent) ;;
stuck) exec sleep 600 ;;
*)
    echo "message 17 came twice" >&2
    exit 1
    ;;
esac
