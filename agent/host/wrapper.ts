/**
 * The wrappers of guests: small shells that outlive the agent, one for each instance. Both claim the instance's run folder
 * (which is in one place for all agents of a host, so that no instance is run twice whatever their settings), hold the
 * lock of its VM, and are its dead-man's switch: they read the lease that the agent renews, by the kernel's clock that
 * goes on while the host is suspended (/proc/uptime), and end the guest when it has run out, whatever has become of the
 * agent. A stop that they have begun is not taken back.
 */

/** What a wrapper is called in the list of processes; its folder, and for a process its run folder, follow. */
export const WRAPPER_NAME = 'holdoff-guest';

/** The variable that marks everything an instance has started. */
export const INSTANCE_VARIABLE = 'HOLDOFF_INSTANCE';

/**
 * Shared by both. `lease` holds two instants, in whole seconds since boot: when the guest is to be stopped, and when to be
 * killed. A lease that cannot be read any more holds as it was read last. $up, $begun and $kill_at are for the loop.
 */
const COMMON = `
claim() {
  mkdir "$run/claim" 2>/dev/null || [ "$again" = again ] || exit 125
  command -v flock > /dev/null || { echo 'flock (util-linux) is missing on this host' >&2; exit 127; }
  exec 9>>"$lock"
  flock -n 9 || { echo held > "$run/refused"; exit 126; }
  if [ -e "$old_lock" ]; then exec 8>>"$old_lock"; flock -n 8 || { echo held > "$run/refused"; exit 126; }; fi
  echo $$ > "$run/pid"
}
stop_at=none; kill_at=none; begun=
look_at_lease() {
  read -r up rest < /proc/uptime; up=\${up%%.*}
  if [ -z "$begun" ] && [ -e "$run/lease" ]; then
    read -r new_stop new_kill < "$run/lease" && [ -n "$new_kill" ] && { stop_at=$new_stop; kill_at=$new_kill; }
  fi
  if [ -z "$begun" ] && [ "$stop_at" != none ] && [ "$up" -ge "$stop_at" ]; then
    begun=1; echo "$stop_at $kill_at" > "$run/expired"
  fi
}
# A signal that ends a suspension ends the nap too.
nap() { sleep "$1" & wait $!; }
`;

/**
 * Leads the session of a guest that is a process. It writes down how the guest ended and when, because after a restart of
 * the agent nobody is left who could wait for it. TERM is for the guest: the wrapper holds it, and the guest gets the
 * default back. Of QEMU it also writes down what happened to the guest and when, so that nothing of it is lost while there
 * is no agent. Everything that the guest starts holds the lock open until the last of them is gone.
 * Arguments: folder, run folder, lock, lock of an earlier release, type, then the command.
 */
export const PROCESS_WRAPPER = `run=$2; lock=$3; old_lock=$4; type=$5; shift 5; again=
${COMMON}
claim
# From their first moment those in the background ignore what is for the guest.
trap '' TERM INT HUP
# A power button that a guest missed while it booted is pressed again; a signal is not sent twice.
ask() {
  if [ "$type" = qemu ]; then asked=$((up + 5)); echo '{"execute":"system_powerdown"}' 1<>"$run/ctl.in"
  else asked=$kill_at; kill -TERM -- -$$; fi
}
# Nothing of the instance is left alive but this shell and the wrapper, which says how the guest ended.
kill_all() {
  kill -KILL "$guest" 2>/dev/null
  for pid in $(grep -lzxF "${INSTANCE_VARIABLE}=$${INSTANCE_VARIABLE}" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
    [ "$pid" = "$$" ] || [ "$pid" = "$self" ] || kill -KILL "$pid" 2>/dev/null
  done
}
watch_over() {
  exec 9>&- 8>&-
  trap : CONT
  self=$(exec sh -c 'echo $PPID'); guest=; asked=0
  while :; do
    [ -n "$guest" ] || { [ -e "$run/guest" ] && read -r guest < "$run/guest"; }
    if [ -n "$guest" ] && [ ! -d "/proc/$guest" ]; then exit; fi
    look_at_lease
    if [ -n "$begun" ]; then
      if [ "$up" -ge "$kill_at" ]; then kill_all
      elif [ "$asked" -le "$up" ]; then ask; fi
    fi
    if [ "$stop_at" = none ]; then nap 3; else nap 1; fi
  done
}
listen() {
  exec 9>&- 8>&-
  exec 7<>"$run/ctl.in"
  echo '{"execute":"qmp_capabilities"}' >&7
  resets=0
  while read -r line; do
    read -r up rest < /proc/uptime
    case "$line" in
      *'"event": "RESET"'*) resets=$((resets + 1)); [ "$resets" -le 2000 ] && echo "$up $line";;
      *'"event": "SHUTDOWN"'*|*'"event": "GUEST_PANICKED"'*|*'"event": "WATCHDOG"'*) echo "$up $line";;
    esac
  done <> "$run/ctl.out" >> "$run/events"
}
listener=
if [ "$type" = qemu ]; then
  mkfifo "$run/ctl.in" "$run/ctl.out"
  listen & listener=$!
fi
watch_over & watcher=$!
trap : TERM INT HUP
sh -c 'echo $$ > "$0/guest"; exec "$@"' "$run" "$@"
code=$?
read -r up rest < /proc/uptime
echo "$code $up" > "$run/exit.new" && mv "$run/exit.new" "$run/exit"
kill -KILL $watcher $listener 2>/dev/null
exit "$code"`;

/**
 * Watches over a libvirt domain, which is no child of ours: it holds the lock while the domain lives, and destroys it when
 * its lease has run out; its QEMU is killed where libvirt does not answer. `life` holds the domain's id and the pid and
 * start time of its QEMU, once the agent has seen them. It goes when the domain has ended, or `over` is there.
 * Arguments: folder, run folder, lock, lock of an earlier release, virsh, connection, domain, and `again` for the second
 * wrapper of one life.
 */
export const DOMAIN_WRAPPER = `run=$2; lock=$3; old_lock=$4; virsh=$5; uri=$6; domain=$7; again=$8
${COMMON}
claim
trap '' TERM INT HUP; trap : CONT
libvirt() { timeout -s KILL 20 "$virsh" -c "$uri" -q "$@" 9>&- 8>&- 2>/dev/null; }
id=; qemu=; born=; asked=0
there() { read -r stat < "/proc/$qemu/stat" && set -- \${stat##*) } && [ "\${20}" = "$born" ]; } 2>/dev/null
while [ ! -e "$run/over" ]; do
  # Nobody can say anything any more, and there is nothing that it would do by itself.
  [ "$stop_at" = none ] && [ ! -d "$run" ] && exit
  [ -n "$id" ] || { [ -e "$run/life" ] && read -r id qemu born < "$run/life"; }
  [ -n "$qemu" ] && ! there && exit
  look_at_lease
  if [ -n "$begun" ]; then
    if [ "$up" -ge "$kill_at" ]; then
      now=$(libvirt domid "--domain=$domain")
      [ -n "$id" ] && [ -n "$now" ] && [ "$now" != "$id" ] && exit
      libvirt destroy "--domain=$domain" > /dev/null
      [ -n "$qemu" ] && there && kill -KILL "$qemu" 2>/dev/null
    elif [ $((up - asked)) -ge 5 ]; then asked=$up; libvirt shutdown "--domain=$domain" > /dev/null
    fi
  fi
  if [ "$stop_at" = none ]; then nap 3; else nap 1; fi
done`;
