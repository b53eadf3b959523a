#!/bin/sh
# A stand-in for the program of another runtime in the tests of the lab's front end: as `jvm/run` it says that its runtime
# is missing, as anything else it does not work.
case "$0" in
*/jvm/run)
    echo "Java is missing. To install it: apt-get install some-jdk" >&2
    exit 3
    ;;
*)
    echo "out of order" >&2
    exit 1
    ;;
esac
