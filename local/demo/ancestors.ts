/**
 * Who started this process, and whether they still live. npm, its shell and the TypeScript loader stand between a
 * terminal and `npm start`: when one of them is killed, nobody tells the rest.
 */
import { fstatSync, readFileSync } from 'node:fs';

const EVERY_MS = 500;

type Link = { readonly child: number; readonly parent: number };
type Seen = { readonly state: string; readonly parent: number; readonly group: number; readonly name: string };

/**
 * Calls `onGone` once when an ancestor of the same process group is gone: what was started together ends together. With
 * standard output in a file the shell may end (`npm start > log &`), npm may not. Where there is no /proc only the parent
 * itself is watched.
 *
 * @returns stops watching
 */
export function watchAncestors(onGone: () => void): () => void {
  const links = linksOf(process.pid, writesToFile());
  const timer = setInterval(() => {
    if (links.every(({ child, parent }) => (look(child)?.parent ?? process.ppid) === parent)) return;
    clearInterval(timer);
    onGone();
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** From this process up: each with the parent that it has now. */
function linksOf(pid: number, untilNpm: boolean): Link[] {
  const own = look(pid);
  if (own === null) return untilNpm ? [] : [{ child: pid, parent: process.ppid }];
  const links: Link[] = [];
  for (let child = pid, seen: Seen | null = own; seen !== null;) {
    const parent = look(seen.parent);
    if (parent === null || parent.group !== own.group) break;
    links.push({ child, parent: seen.parent });
    if (untilNpm && parent.name.startsWith('npm')) return links;
    child = seen.parent;
    seen = parent;
  }
  return untilNpm ? [] : links;
}

/** Null when it is gone, or where there is no /proc. `pid (name) state parent group …`; the name may hold anything. */
function look(pid: number): Seen | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    return { state, parent: Number(parent), group: Number(group), name };
  } catch {
    // Gone, or another operating system.
    return null;
  }
}

/** Whether a process of this user runs. One that has ended and that nobody has asked after (in containers) does not. */
export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return look(pid)?.state !== 'Z';
  } catch {
    // No such process, or one of somebody else's: not ours.
    return false;
  }
}

function writesToFile(): boolean {
  try {
    return fstatSync(1).isFile();
  } catch {
    // Closed: nobody reads it.
    return false;
  }
}
