// The peer of Go in Tamtam's lab: a goroutine for each actor of the ring, with a channel in front of it. The classics are
// in savina.go.
//
// It answers `contender list` and `contender run ring go VARIANT --limit-ms N`. What is measured, and how it is verified,
// is what the Rust programs do (crates/tamtam-lab/src/experiments/ring): a message counts its own way, and must come to its end
// once, handled as often as it should, and in order.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	rowActors   = 10_000
	rowMessages = 500
	// A channel of Go is bounded: a sender waits while so many messages are in it, or as many as there are in all. More
	// make it no faster, fewer make it slower.
	capacity = 64
	// So many rounds are made however long they take.
	leastRounds = 3
	astray      = ^uint32(0)
)

type parcel struct {
	number, hops uint32
}

type course struct {
	name             string
	count            uint64
	actors, messages int
	everyoneCounts   bool
	hops             uint32 // Of a token; 0 otherwise.
	middle, end      []parcel
	done             sync.WaitGroup
	channels         []chan parcel
	ended            sync.WaitGroup
}

func courseOf(variant string) (*course, error) {
	parts := strings.Split(variant, "/")
	extra := parts[len(parts)-1]
	count, err := strconv.ParseUint(parts[0], 10, 32)
	if err != nil || len(parts) != 3 {
		return nil, fmt.Errorf("no such variant: %q", variant)
	}
	c := &course{count: count, actors: rowActors, messages: rowMessages}
	switch extra {
	case "last":
	case "all":
		c.everyoneCounts = true
	case "token":
		c.messages = 1
		c.hops = uint32(count)
	case "million":
		c.actors, c.messages = 1_000_000, 5
	default:
		return nil, fmt.Errorf("no such variant: %q", variant)
	}
	if c.hops == 0 {
		handled := uint64(c.actors*c.messages - c.messages*(c.messages-1)/2)
		if handled != count {
			return nil, fmt.Errorf("%d messages are handled, not %d", handled, count)
		}
	}
	return c, nil
}

func (c *course) lastPosition() int {
	if c.hops > 0 {
		return int(c.hops-1) % c.actors
	}
	return c.actors - 1
}

// A plain actor: it hands each message on, and whoever notes or ends messages is a goroutine of its own kind.
func (c *course) passOn(position int, in <-chan parcel, out chan<- parcel) {
	defer c.ended.Done()
	due, round := uint32(position), uint32(0)
	if c.hops > 0 {
		round = uint32(c.actors)
	}
	last := position == c.lastPosition()
	notes := position == c.messages-1 && c.hops == 0 && !last
	for p := range in {
		if p.number+p.hops == due {
			p.hops++
		} else {
			p.hops = astray
		}
		due += round
		if c.everyoneCounts {
			c.done.Done()
		}
		if notes {
			c.middle = append(c.middle, p)
		}
		if last && (c.hops == 0 || p.hops >= c.hops) {
			c.end = append(c.end, p)
			if !c.everyoneCounts {
				c.done.Done()
			}
			continue
		}
		out <- p
	}
	// The end of the row passes along it, too; a closed ring is ended from outside.
	if out != nil && c.hops == 0 {
		close(out)
	}
}

type times struct {
	build, whole time.Duration
}

func (c *course) round() (times, error) {
	c.middle, c.end = nil, nil
	counts := c.messages
	if c.everyoneCounts {
		counts = int(c.count)
	}
	c.done.Add(counts)
	c.ended.Add(c.actors)

	start := time.Now()
	entries := make([]chan parcel, c.messages)
	room := capacity
	if c.messages < room {
		room = c.messages
	}
	first := make(chan parcel, room)
	var all []chan parcel
	var next chan parcel
	if c.hops > 0 {
		next = first
		all = make([]chan parcel, 0, c.actors)
	}
	for position := c.actors - 1; position >= 0; position-- {
		in := first
		if position > 0 {
			in = make(chan parcel, room)
		}
		if position < c.messages {
			entries[position] = in
		}
		if c.hops > 0 {
			all = append(all, in)
		}
		go c.passOn(position, in, next)
		next = in
	}
	build := time.Since(start)
	for number := 0; number < c.messages; number++ {
		entries[number] <- parcel{number: uint32(number)}
	}
	c.done.Wait()
	whole := time.Since(start)

	if c.hops > 0 {
		for _, channel := range all {
			close(channel)
		}
	} else {
		close(first)
	}
	c.ended.Wait()
	return times{build, whole}, c.verify()
}

func (c *course) verify() error {
	if len(c.end) != c.messages {
		return fmt.Errorf("%d messages came to the last actor where %d were due", len(c.end), c.messages)
	}
	came := make([]bool, c.messages)
	var handled uint64
	for place, p := range c.end {
		due := c.hops
		if c.hops == 0 {
			due = uint32(c.actors) - p.number
		}
		if int(p.number) >= c.messages || p.hops != due || came[p.number] {
			return fmt.Errorf("message %d came twice, or was handled %d times where %d were due", p.number, p.hops, due)
		}
		came[p.number] = true
		handled += uint64(p.hops)
		if c.hops == 0 && c.middle[place].number != p.number {
			return fmt.Errorf("messages of one sender overtook each other")
		}
	}
	if handled != c.count {
		return fmt.Errorf("%d messages were handled where %d were due", handled, c.count)
	}
	return nil
}

type metric struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
}

func median(values []float64) float64 {
	sort.Float64s(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func peakKiB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, _ := strconv.ParseFloat(fields[1], 64)
			return kib
		}
	}
	return 0
}

func run(experiment, variant string, limit time.Duration) (map[string]any, error) {
	count, makeRound, err := roundsOf(experiment, variant)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	first, err := makeRound()
	if err != nil {
		return nil, err
	}
	before := cpuTime()
	var rounds []times
	var elapsed time.Duration
	for len(rounds)+1 < leastRounds || time.Since(start) < limit {
		round, err := makeRound()
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, round)
		elapsed += round.whole
	}
	cpu := cpuTime() - before

	microseconds := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
	var builds, wholes []float64
	best := rounds[0].whole
	for place, round := range rounds {
		if round.whole < best {
			best = round.whole
		}
		if place >= len(rounds)/2 {
			builds = append(builds, microseconds(round.build))
			wholes = append(wholes, microseconds(round.whole))
		}
	}
	total := median(wholes)
	operations := count * uint64(len(rounds))
	return map[string]any{
		"experiment": experiment, "variant": variant, "contender": "go", "version": version(), "ours": false,
		"verified": true, "operations": operations, "elapsed_ns": elapsed.Nanoseconds(), "note": nil,
		"metrics": []metric{
			{"ns_per_op", "ns", total * 1e3 / float64(count)},
			{"total_us", "µs", total},
			{"first_us", "µs", microseconds(first.whole)},
			{"best_us", "µs", microseconds(best)},
			{"build_us", "µs", median(builds)},
			{"cpu_ns_per_op", "ns", float64(cpu.Nanoseconds()) / float64(operations)},
			{"peak_rss_kib", "KiB", peakKiB()},
		},
	}, nil
}

func version() string {
	return strings.TrimPrefix(runtime.Version(), "go")
}

// How many operations a round is, and what makes one.
func roundsOf(experiment, variant string) (uint64, func() (times, error), error) {
	if experiment != "ring" {
		return classicOf(experiment, variant)
	}
	c, err := courseOf(variant)
	if err != nil {
		return 0, nil, err
	}
	return c.count, c.round, nil
}

func listing(experiment string, variants []string, about string) map[string]any {
	return map[string]any{
		"contender": "go", "version": version(), "ours": false, "experiment": experiment, "variants": variants,
		"about": about,
	}
}

func list() []map[string]any {
	about := "a goroutine for each actor, with a channel that holds %d messages%s"
	lines := []map[string]any{listing("ring", []string{
		"4875250/2cores/last", "4875250/2cores/all", "1000000/2cores/token", "4999990/2cores/million",
		"4875250/1core/last", "4875250/1core/all", "1000000/1core/token",
	}, fmt.Sprintf(about, capacity, ", or all if they are fewer"))}
	for _, one := range classics {
		variants := []string{fmt.Sprintf("%d/2cores", one.count), fmt.Sprintf("%d/1core", one.count)}
		lines = append(lines, listing(one.name, variants, fmt.Sprintf(about, savinaCapacity, "")))
	}
	return lines
}

func main() {
	words := os.Args[1:]
	var answers []map[string]any
	switch {
	case len(words) == 2 && words[0] == "contender" && words[1] == "list":
		answers = list()
	case len(words) == 7 && words[0] == "contender" && words[1] == "run" && words[3] == "go" && words[5] == "--limit-ms":
		milliseconds, err := strconv.Atoi(words[6])
		if err == nil {
			var answer map[string]any
			answer, err = run(words[2], words[4], time.Duration(milliseconds)*time.Millisecond)
			answers = append(answers, answer)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s go %s: delivery not verified: %v\n", words[2], words[4], err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: contender list\n       contender run EXPERIMENT go VARIANT --limit-ms N")
		os.Exit(2)
	}
	for _, answer := range answers {
		line, err := json.Marshal(answer)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(line))
	}
}
