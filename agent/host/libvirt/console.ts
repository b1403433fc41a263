/** Where a domain writes its console, if its definition says so. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { systemCode } from '../../failure.ts';

const TAIL_BYTES = 4096;
/** `<serial type='file'><source path='…'/>`, or `<log file='…'/>` inside any serial port or console (libvirt, domain XML). */
const PORT = /<(serial|console)\b[^>]*>[\s\S]*?<\/\1>/g;
const FILE = /type='file'[\s\S]*?<source path='([^']+)'|<log file='([^']+)'/;

/** The file that receives a domain's console; null when its definition names none. */
export function consoleFile(xml: string): string | null {
  for (const [port] of xml.matchAll(PORT)) {
    const [, source, log] = FILE.exec(port) ?? [];
    const file = source ?? log;
    if (file !== undefined) return file.replaceAll('&apos;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&');
  }
  return null;
}

/** The end of a file; empty when there is none or it is not ours to read. */
export function tailOf(file: string, atMost: number = TAIL_BYTES): string {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return '';
  }
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, atMost));
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, size - bytes.length)).toString('utf8');
  } finally {
    closeSync(fd);
  }
}
