/** The line of a VM in the index of members: its host, its status, and what its host is told of it (docs/data-model.md). */
import * as z from 'zod/mini';
import { parseInstanceId, parseVmId, type VmId } from '../core/kit/ids.ts';
import { instant, milliseconds } from '../core/kit/time.ts';
import type { HostEntry, Settled } from '../core/vm/host-entry.ts';
import type { KeptLine } from '../core/vm/told.ts';

export type VmLine = { vmId: VmId; status: string };

/** What all lines of a host begin with. */
export const linesOfHost = (host: string): string => `${host}|`;

export const vmSort = (host: string, status: string, entry: HostEntry): string =>
  `${linesOfHost(host)}${entry.vmId}|${status}|${JSON.stringify(packed(entry))}`;

/** A VM and its status, as `vmSort` wrote it. */
export function vmLine(sort: string): VmLine[] {
  const parts = partsOf(sort);
  return parts === null ? [] : [{ vmId: parts.vmId, status: parts.status }];
}

/** What its host is told of a VM; what cannot be read is left out, and read from the VM itself. */
export function vmEntry(sort: string): HostEntry[] {
  const parts = partsOf(sort);
  if (parts === null) return [];
  const read = entrySchema.safeParse(jsonOf(parts.rest));
  if (!read.success) return [{ vmId: parts.vmId, line: null, settled: null }];
  const [line, settled] = read.data;
  return [
    { vmId: parts.vmId, line: line === null ? null : unpackedLine(parts.vmId, line), settled: unpacked(settled) },
  ];
}

function partsOf(sort: string): { vmId: VmId; status: string; rest: string } | null {
  const [, id = '', status, ...rest] = sort.split('|');
  const vmId = parseVmId(id);
  return vmId === null || status === undefined || rest.length === 0 ? null : { vmId, status, rest: rest.join('|') };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const packed = ({ line, settled }: HostEntry): [PackedLine | null, PackedSettled | null] => [
  line === null
    ? null
    : [
        line.uid,
        line.power === 'on' ? 1 : 0,
        line.instanceId,
        line.launchRevision,
        line.graceSeconds ?? null,
        line.leaseSeconds ?? null,
        line.deadlineAt,
        line.consoleUntil,
      ],
  settled === null ? null : [settled.resets, settled.hold?.lease ?? null, settled.hold?.grace ?? null],
];

const maybe = () => z.nullable(z.number());
const lineSchema = z.tuple([
  z.string(),
  z.union([z.literal(0), z.literal(1)]),
  z.string().check(z.refine((id) => parseInstanceId(id) !== null)),
  z.number(),
  maybe(),
  maybe(),
  maybe(),
  maybe(),
]);
const settledSchema = z.tuple([z.number(), maybe(), maybe()]);
const entrySchema = z.tuple([z.nullable(lineSchema), z.nullable(settledSchema)]);
type PackedLine = z.infer<typeof lineSchema>;
type PackedSettled = z.infer<typeof settledSchema>;

function unpackedLine(vmId: VmId, line: PackedLine): KeptLine {
  const [uid, power, instanceId, launchRevision, graceSeconds, leaseSeconds, deadlineAt, consoleUntil] = line;
  return {
    vmId,
    uid,
    power: power === 1 ? 'on' : 'off',
    instanceId,
    launchRevision,
    ...(graceSeconds === null ? {} : { graceSeconds }),
    ...(leaseSeconds === null ? {} : { leaseSeconds }),
    deadlineAt: deadlineAt === null ? null : instant(deadlineAt),
    consoleUntil: consoleUntil === null ? null : instant(consoleUntil),
  };
}

function unpacked(settled: PackedSettled | null): Settled | null {
  if (settled === null) return null;
  const [resets, lease, grace] = settled;
  return { resets, hold: lease === null ? null : { lease: milliseconds(lease), grace: milliseconds(grace ?? 0) } };
}
