/**
 * A control plane for one node, over HTTP on 127.0.0.1: the real decision about the node, a scripted table of VMs, and
 * faults of the network. Signatures are verified by signing again.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { type NodeReport, nodeReportSchema, type VmReport, vmReportSchema } from '../../core/contract/agent-bodies.ts';
import type { DesiredVm } from '../../core/contract/agent-answers.ts';
import type { Launch } from '../../core/contract/operator-bodies.ts';
import { NodeModel } from './node-model.ts';

export const REGION = 'eu-west-1';
export const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' };

/** What the table says of one VM. */
export type VmRow = {
  vmId: string;
  uid: string;
  power: 'on' | 'off';
  instanceId: string;
  launch: Launch;
  simulateCrash?: boolean;
  graceSeconds?: number;
  startDeadlineSeconds?: number | null;
  leaseSeconds?: number;
  consoleAsked?: boolean;
  /** What the launch answer says besides: when the guest counts as unhealthy. */
  terms?: Readonly<Record<string, unknown>>;
};

type Reply = { status: number; body: unknown };
const problem = (status: number, code: string): Reply => ({
  status,
  body: { type: 'about:blank', title: code, status, code, detail: code },
});

export class ControlPlane {
  readonly nodeId: string;
  readonly reports: NodeReport[] = [];
  readonly vmReports: (VmReport & { vmId: string })[] = [];
  readonly launches: string[] = [];
  readonly vms = new Map<string, VmRow>();
  readonly unsigned: string[] = [];
  /** Whether answers to reports have the list of VMs and its tag, as since API 1.1. */
  tags = false;
  /** How often the list was asked for. */
  lists = 0;
  /** What went wrong in this double itself; a test ends with none. */
  readonly broken: unknown[] = [];
  /** Answered to the next requests instead of anything else. */
  failNext: number[] = [];
  /** How far the time of a signature may be off; null: nobody looks. */
  minutesAllowed: number | null = null;
  refusedTimes = 0;
  /** Drops every connection. */
  down = false;
  /** Reports of the node that are heard by nobody, and whose connection breaks. */
  loses: (report: NodeReport) => boolean = () => false;
  /** Answered as the desired state instead of the decided one. */
  desiredOverride: { state: string; version: string | null; generation: number } | null = null;
  /** Besides state, version and generation: plans, times, a pin. */
  told: Readonly<Record<string, unknown>> = {};
  reportEverySeconds = 0.3;
  /** Fields of a later version that every answer has besides. */
  newer: Readonly<Record<string, unknown>> = {};
  readonly node = new NodeModel();
  #server: Server | null = null;

  constructor(nodeId: string) {
    this.nodeId = nodeId;
  }

  get url(): string {
    const address = this.#server?.address();
    if (address === null || address === undefined || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.broken.push(error);
        response.destroy();
      });
    });
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done);
    });
    this.#server = server;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise<void>((done) => {
      if (this.#server === null) done();
      else this.#server.close(() => done());
    });
  }

  /** The states reported one after the other, repetitions left out: `4 StagedUpdate`, `- Idle` without a generation. */
  story(): string[] {
    const lines = this.reports.map(
      ({ generation, state, error }) => `${generation ?? '-'} ${state}${error === undefined ? '' : ` ${error.reason}`}`,
    );
    return lines.filter((line, index) => line !== lines[index - 1]);
  }

  /** The same for the phases of one VM's instances. */
  phases(vmId: string): string[] {
    const lines = this.vmReports
      .filter((report) => report.vmId === vmId)
      .map(({ instanceId, phase, cause }) => `${instanceId} ${phase}${cause === undefined ? '' : ` ${cause}`}`);
    return lines.filter((line, index) => line !== lines[index - 1]);
  }

  #reportNode(report: NodeReport): Reply | null {
    if (this.loses(report)) return null;
    this.reports.push(report);
    if (!this.node.take(report)) return problem(409, 'GenerationAhead');
    const desired = { ...(this.desiredOverride ?? this.node.spec), ...this.told };
    const leased = [...this.vms.values()].flatMap(({ leaseSeconds }) => leaseSeconds ?? []);
    const lease = leased.length === 0 ? {} : { leaseSeconds: Math.min(...leased) };
    const body = { api: '1.0', desired, reportEverySeconds: this.reportEverySeconds, ...lease };
    return { status: 200, body: { ...body, ...this.#listing(report) } };
  }

  #listing({ vmsTag: sent }: NodeReport): { vmsTag?: string; vms?: unknown } {
    if (!this.tags) return {};
    const vms = this.#items();
    const vmsTag = createHash('sha256').update(JSON.stringify(vms)).digest('hex').slice(0, 16);
    return vmsTag === sent ? { vmsTag } : { vmsTag, vms };
  }

  #reportVm(vmId: string, report: VmReport): Reply {
    this.vmReports.push({ ...report, vmId });
    const row = this.vms.get(vmId);
    const on = row !== undefined && row.power === 'on' && row.instanceId === report.instanceId;
    const desired: DesiredVm = {
      power: on ? 'on' : 'off',
      instanceId: report.instanceId,
      ...(row?.graceSeconds === undefined ? {} : { graceSeconds: row.graceSeconds }),
    };
    return { status: 200, body: { api: '1.0', desired } };
  }

  #listVms(): Reply {
    this.lists += 1;
    return { status: 200, body: { api: '1.0', items: this.#items() } };
  }

  #items() {
    return [...this.vms.values()].map(({ vmId, uid, power, instanceId, graceSeconds, leaseSeconds, consoleAsked }) => ({
      vmId,
      uid,
      power,
      instanceId,
      launchRevision: 1,
      ...(graceSeconds === undefined ? {} : { graceSeconds }),
      ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
      ...(consoleAsked === undefined ? {} : { consoleAsked }),
    }));
  }

  #launch(vmId: string, instanceId: string): Reply {
    const row = this.vms.get(vmId);
    if (row === undefined || row.instanceId !== instanceId) return problem(404, 'InstanceNotFound');
    this.launches.push(instanceId);
    const { uid, launch, simulateCrash = false, graceSeconds = 30, startDeadlineSeconds = 300 } = row;
    const body = {
      api: '1.0',
      vmId,
      uid,
      instanceId,
      launchRevision: 1,
      launch,
      simulateCrash,
      graceSeconds,
      startDeadlineSeconds,
      ...(row.leaseSeconds === undefined ? {} : { leaseSeconds: row.leaseSeconds }),
      ...row.terms,
    };
    return { status: 200, body };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const failure = this.failNext.shift();
    if (this.down) {
      request.socket.destroy();
      return;
    }
    if (!(await signed(request, text))) this.unsigned.push(request.url ?? '');
    const reply = this.#wrongTime(request)
      ? problem(403, 'SignatureExpired')
      : failure === undefined
        ? this.#route(request, text)
        : problem(failure, 'Scripted');
    if (reply === null) {
      request.socket.destroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(Object.assign({}, reply.body, this.newer)));
  }

  #wrongTime(request: IncomingMessage): boolean {
    if (this.minutesAllowed === null) return false;
    const off = Math.abs(instantOf(String(request.headers['x-amz-date'])).getTime() - Date.now());
    const wrong = off > this.minutesAllowed * 60_000;
    if (wrong) this.refusedTimes += 1;
    return wrong;
  }

  #route(request: IncomingMessage, text: string): Reply | null {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const route = `${request.method} ${url.pathname}`;
    const vmId = /^\/v1\/vms\/([^/]+)\/(?:reports|launch)$/.exec(url.pathname)?.[1];
    if (route === `POST /v1/nodes/${this.nodeId}/reports`)
      return this.#reportNode(nodeReportSchema.parse(JSON.parse(text)));
    if (route === `GET /v1/nodes/${this.nodeId}/vms`) return this.#listVms();
    if (vmId === undefined) return problem(404, 'NotFound');
    return request.method === 'POST'
      ? this.#reportVm(vmId, vmReportSchema.parse(JSON.parse(text)))
      : this.#launch(vmId, url.searchParams.get('instanceId') ?? '');
  }
}

/** Of the form that a signature has. */
const instantOf = (date: string): Date =>
  new Date(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

/** Signs what was received with the same keys and compares. */
async function signed(request: IncomingMessage, body: string): Promise<boolean> {
  const given = request.headers.authorization ?? '';
  const date = request.headers['x-amz-date'];
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? [];
  if (typeof date !== 'string' || !names.includes('host')) return false;
  const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`);
  const signer = new SignatureV4({
    service: 'execute-api',
    region: REGION,
    sha256: Sha256,
    credentials: {
      accessKeyId: KEYS.AWS_ACCESS_KEY_ID,
      secretAccessKey: KEYS.AWS_SECRET_ACCESS_KEY,
      sessionToken: KEYS.AWS_SESSION_TOKEN,
    },
  });
  const headers = Object.fromEntries(
    names.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' && !name.startsWith('x-amz-') ? [[name, value]] : [];
    }),
  );
  const again = await signer.sign(
    {
      method: request.method ?? 'GET',
      protocol: 'http:',
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers,
      ...(body === '' ? {} : { body }),
    },
    { signingDate: instantOf(date) },
  );
  return again.headers['authorization'] === given;
}
