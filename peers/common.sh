# What the peers of other runtimes share: sourced by their `build` and `run`, which set $here to their folder.
# shellcheck shell=sh

# Ends unless the command $1 is there; $2 is what it belongs to, and $3 the Debian packages that bring it.
need() {
    command -v "$1" >/dev/null 2>&1 && return
    echo "$2 is missing. To install it: apt-get install $3" >&2
    exit 3
}

# Ends unless the peers are built: their list is written last.
need_built() {
    # shellcheck disable=SC2154 # Whoever sources this sets it.
    [ -f "$here/target/listing" ] && return
    echo "not built. To build them: ./scripts/lab --peers" >&2
    exit 3
}

# The first $1 processors that this process may use, with commas between them; false if they are fewer.
processors() {
    allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    list=
    for range in $(echo "$allowed" | tr , ' '); do
        processor=${range%-*}
        while [ "$processor" -le "${range#*-}" ]; do
            if [ "$(echo "$list" | wc -w)" -lt "$1" ]; then list="$list $processor"; fi
            processor=$((processor + 1))
        done
    done
    [ "$(echo "$list" | wc -w)" -eq "$1" ] && echo "$list" | sed 's/^ //; s/ /,/g'
}

# Goes on as the command behind $1, on the cores that the variant $1 names.
on_cores_of() {
    case "$1" in
    */1core | */1core/*) wanted=1 ;;
    */2cores | */2cores/*) wanted=2 ;;
    *) wanted= ;;
    esac
    shift
    [ -n "$wanted" ] || exec "$@"
    need taskset "taskset" util-linux
    cores=$(processors "$wanted") || {
        echo "cannot be measured here: it needs $wanted processors" >&2
        exit 1
    }
    exec taskset -c "$cores" "$@"
}
