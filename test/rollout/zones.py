"""Writes zones.json: what Python's zoneinfo says of every change of every zone's clocks in ten years.

Run once (`python3 test/rollout/zones.py`) and kept as data: an opinion that shares no code with ours. Each row is a local
time (minutes since 1970, as the wall clock reads) and the instant (minutes since 1970, UTC) at which a window with that
time opens: the end of the gap for a time that is skipped, the first of the two for one that comes twice.
Zones with the same rows stand together.
"""
import json
import pathlib
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

BEGIN = datetime(2016, 1, 1, tzinfo=timezone.utc)
END = datetime(2026, 1, 1, tzinfo=timezone.utc)
EPOCH = datetime(1970, 1, 1)
MINUTE = timedelta(minutes=1)


def offset(zone, at):
    return at.astimezone(zone).utcoffset()


def changes(zone):
    at = BEGIN
    while at < END:
        after = at + timedelta(hours=6)
        if offset(zone, at) != offset(zone, after):
            low, high = at, after
            while high - low > MINUTE:
                middle = low + (high - low) // 2
                middle -= timedelta(seconds=middle.second, microseconds=middle.microsecond)
                if middle <= low:
                    break
                if offset(zone, middle) == offset(zone, at):
                    low = middle
                else:
                    high = middle
            yield high
        at = after


def opens(zone, local, change):
    shown = []
    for fold in (0, 1):
        at = local.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)
        if at.astimezone(zone).replace(tzinfo=None) == local:
            shown.append(at)
    return min(shown) if shown else change


def rows(zone):
    out = []
    for change in changes(zone):
        before = change + offset(zone, change - MINUTE)
        after = change + offset(zone, change)
        early, late = sorted([before.replace(tzinfo=None), after.replace(tzinfo=None)])
        middle = early + (late - early) // 2
        middle -= timedelta(seconds=middle.second, microseconds=middle.microsecond)
        for local in (early - MINUTE, early, middle, late - MINUTE, late, late + MINUTE):
            instant = opens(zone, local, change).replace(tzinfo=None)
            out.append([(local - EPOCH) // MINUTE, (instant - EPOCH) // MINUTE])
    return out


def main():
    groups = {}
    for name in sorted(available_timezones()):
        if name in ("localtime", "posixrules", "Factory") or name.startswith(("posix/", "right/")):
            continue
        found = rows(ZoneInfo(name))
        if found:
            groups.setdefault(json.dumps(found), []).append(name)
    lines = [
        json.dumps({"zones": names, "rows": json.loads(found)}, separators=(",", ":"))
        for found, names in sorted(groups.items(), key=lambda entry: entry[1])
    ]
    path = pathlib.Path(__file__).with_name("zones.json")
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(len(lines), "kinds of clocks,", sum(len(names) for names in groups.values()), "zones")


main()
