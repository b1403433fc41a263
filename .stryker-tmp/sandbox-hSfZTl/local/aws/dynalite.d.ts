// @ts-nocheck
declare module 'dynalite' {
  import type { Server } from 'node:http';
  export interface DynaliteOptions {
    readonly path?: string;
    readonly createTableMs?: number;
    readonly deleteTableMs?: number;
    readonly updateTableMs?: number;
  }
  export default function dynalite(options?: DynaliteOptions): Server;
}
