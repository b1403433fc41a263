#!/bin/sh
# Amazon Linux 2023 as the script driver drives it (docs/agent.md). A version is a release of its repositories, such as
# 2023.6.20250115: `dnf --releasever` pins it, so that every host of a group gets the same packages.
#   amazon-linux-2023.sh version | check | prepare | activate | deactivate | reboot
set -eu
# Empty but for tests in a root of their own.
root="${HOLDOFF_HOST_ROOT:-}"
kept="$root/var/lib/holdoff-host"
pending="$kept/pending"
running="$root/etc/holdoff/running-release"

installed() { rpm -q --qf '%{VERSION}' system-release; }
wanted() { : "${HOLDOFF_VERSION:?no version was given}"; }

case "${1:-}" in
  # What was booted into, not what is on the disk: an activated update runs only after its reboot.
  version)
    if [ -s "$running" ]; then cat "$running"; else installed; fi ;;
  # Prints nothing where nothing newer is offered.
  check)
    if [ -n "${HOLDOFF_VERSION_LOCK:-}" ]; then echo "$HOLDOFF_VERSION_LOCK"; exit 0; fi
    # Any failure to ask is a failed check, never "nothing newer".
    said="$(dnf --quiet check-release-update 2>&1)" || { echo "$said" >&2; exit 1; }
    echo "$said" | sed -n 's/.*--releasever=\([0-9.]*\).*/\1/p' | tail -n 1 ;;
  prepare)
    wanted
    dnf --quiet --assumeyes --releasever="$HOLDOFF_VERSION" distro-sync --downloadonly ;;
  # Packages are replaced by the boot, not now: what runs is not changed under its workloads (systemd.offline-updates(7)).
  activate)
    wanted
    mkdir -p "$kept"
    echo "$HOLDOFF_VERSION" >"$pending.new"
    mv -f "$pending.new" "$pending" ;;
  deactivate)
    rm -f "$pending" ;;
  # The node is drained: now the packages are replaced, and the new kernel boots. A failure here is a refused reboot.
  reboot)
    if [ -s "$pending" ]; then
      release="$(cat "$pending")"
      dnf --quiet --assumeyes --cacheonly --releasever="$release" distro-sync
      mkdir -p "$root/etc/holdoff"
      echo "$release" >"$running.new"
      mv -f "$running.new" "$running"
      rm -f "$pending"
    fi
    systemctl reboot ;;
  *)
    echo "usage: $0 version | check | prepare | activate | deactivate | reboot" >&2
    exit 2 ;;
esac
