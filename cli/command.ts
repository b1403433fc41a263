/** What a command is: parsed first, run later. A module adds its commands to the program; parsing runs nothing. */
import type { Command } from 'commander';
import type { Surface } from '../present/table.ts';
import type { Duration } from '../core/kit/time.ts';
import type { Client } from './client.ts';
import type { Connection, ConnectionOptions } from './connection.ts';
import type { ExitCode } from './errors.ts';
import type { Io } from './io.ts';

/** Options that every command takes. */
export type GlobalOptions = ConnectionOptions & {
  readonly json: boolean;
  /** Only these of its fields. */
  readonly fields?: readonly string[];
  readonly timeout: Duration;
};

/** What a command has to work with. */
export type Tools = {
  readonly io: Io;
  readonly json: boolean;
  readonly fields?: readonly string[] | undefined;
  /** How long to wait for an answer. */
  readonly timeout: Duration;
  /** The screen as it is now: width, colour and time. */
  readonly surface: (fit?: Surface['fit']) => Surface;
  /** Connects on first use, so that a command that needs no control plane runs without one. */
  readonly client: () => Promise<Client>;
  /** Where that control plane is, for a command that speaks to it by itself. */
  readonly connection: () => Promise<Connection>;
};

export type Noun = 'nodes' | 'vms' | 'groups';

/** A command line, understood. */
export type Invocation = {
  /** `vms stop` */
  readonly name: string;
  /** What it is about, for error messages. */
  readonly subject?: { readonly noun: Noun; readonly id: string };
  /** It is about many things: its JSON says how it went with each. */
  readonly many?: boolean;
  /** Its own options, as parsed. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly run: (tools: Tools) => Promise<ExitCode>;
};

/** Adds commands to the program; each calls `accept` with what it understood. */
export type CommandModule = (program: Command, accept: (invocation: Invocation) => void) => void;
