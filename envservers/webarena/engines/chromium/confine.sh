#!/bin/sh
# Starts the browser with processes and mounts of its own: dead when its parent is, blind to the folder that it must not
# read. The arguments are the browser's.
#   CONFINE_MODE    root (mounts as root), user (in a user namespace), none
#   CONFINE_BINARY  the browser
#   CONFINE_HIDE    the folder that it finds empty
set -eu
mode=$CONFINE_MODE binary=$CONFINE_BINARY hide=$CONFINE_HIDE
unset CONFINE_MODE CONFINE_BINARY CONFINE_HIDE
blind='mount -t tmpfs -o ro,size=4k,mode=0 none "$1"; shift; exec "$@"'
case $mode in
root)
	exec setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
		sh -euc "$blind" sh "$hide" "$binary" "$@"
	;;
user)
	exec setpriv --pdeathsig KILL unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc \
		sh -euc "$blind" sh "$hide" unshare --user --map-user="$(id -u)" --map-group="$(id -g)" "$binary" "$@"
	;;
*)
	if command -v setpriv >/dev/null; then exec setpriv --pdeathsig KILL "$binary" "$@"; fi
	exec "$binary" "$@"
	;;
esac
