import { GROUPS } from './groups.ts';
import { UPDATES } from './updates.ts';
import { VMS } from './vms.ts';

export const STORIES = [...UPDATES, ...GROUPS, ...VMS] as const;
