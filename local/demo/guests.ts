/** The demo's VMs with real QEMU guests: their images on disk, their declarations, and what their host has to allow. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VmBody } from '../../core/contract/operator-bodies.ts';
import { bootSector, guestArgs } from './boot-sector.ts';
import { GUESTS, VMS } from './fleet.ts';

export type RealGuests = { vms: Record<string, VmBody>; agentEnv: Record<string, string> };

/** Writes the images below the data directory. */
export function realGuests(program: string, dataDir: string): RealGuests {
  const images = join(dataDir, 'images');
  mkdirSync(images, { recursive: true });
  const vms = Object.entries(VMS).map(([vmId, body]): [string, VmBody] => {
    const story = GUESTS[vmId] ?? null;
    const image = join(images, `${vmId}.img`);
    if (story !== null) writeFileSync(image, bootSector(story));
    return [vmId, { ...body, grace: '10s', launch: { type: 'qemu', args: guestArgs(image) } }];
  });
  return { vms: Object.fromEntries(vms), agentEnv: { HOLDOFF_QEMU: program, HOLDOFF_QEMU_DIRS: images } };
}
