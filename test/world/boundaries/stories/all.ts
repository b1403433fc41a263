import { GROUPS } from './groups.ts';
import { HOSTS } from './hosts.ts';
import { MACHINES } from './machines.ts';
import { UPDATES } from './updates.ts';
import { VMS } from './vms.ts';

export const STORIES = [...UPDATES, ...GROUPS, ...MACHINES, ...VMS, ...HOSTS] as const;
