/**
 * What a 2xx of each call looks like. Apart from the calls themselves: who serves or makes one needs no schema of its
 * answer, and these are a third of what there would be to build in a cold start.
 */
import type * as z from 'zod/mini';
import { hostVmsSchema, launchAnswerSchema, nodeReportAnswerSchema, vmReportAnswerSchema } from './agent-answers.ts';
import {
  consoleSchema,
  eventPageSchema,
  groupAnswerSchema,
  groupPageSchema,
  lastEventsSchema,
  nodeAnswerSchema,
  nodePageSchema,
  openapiSchema,
  recoverAnswerSchema,
  summarySchema,
  vmAnswerSchema,
  vmPageSchema,
} from './answers.ts';
import type { Route } from './route.ts';
import type { RouteName, Routes } from './routes.ts';

export const ROUTE_ANSWERS = {
  reportNode: nodeReportAnswerSchema,
  listHostVms: hostVmsSchema,
  reportVm: vmReportAnswerSchema,
  getLaunch: launchAnswerSchema,
  listNodes: nodePageSchema,
  getNode: nodeAnswerSchema,
  listNodeEvents: lastEventsSchema,
  deleteNode: nodeAnswerSchema,
  retryNode: nodeAnswerSchema,
  holdNode: nodeAnswerSchema,
  releaseNode: nodeAnswerSchema,
  fenceNode: nodeAnswerSchema,
  moveNode: nodeAnswerSchema,
  listGroups: groupPageSchema,
  getGroup: groupAnswerSchema,
  putGroup: groupAnswerSchema,
  deleteGroup: groupAnswerSchema,
  pauseGroup: groupAnswerSchema,
  closeBreaker: groupAnswerSchema,
  openWindow: groupAnswerSchema,
  closeWindow: groupAnswerSchema,
  expedite: groupAnswerSchema,
  resumeGroup: groupAnswerSchema,
  listVms: vmPageSchema,
  getVm: vmAnswerSchema,
  putVm: vmAnswerSchema,
  deleteVm: vmAnswerSchema,
  listVmEvents: lastEventsSchema,
  startVm: vmAnswerSchema,
  stopVm: vmAnswerSchema,
  restartVm: vmAnswerSchema,
  askConsole: consoleSchema,
  getConsole: consoleSchema,
  listEvents: eventPageSchema,
  getSummary: summarySchema,
  recover: recoverAnswerSchema,
  getOpenapi: openapiSchema,
} as const satisfies Readonly<Record<RouteName, z.core.$ZodType>>;

/** What a 2xx of a call answers, the version of the API included. */
export type RouteAnswer<N extends RouteName> = z.output<(typeof ROUTE_ANSWERS)[N]>;

/** The same for a call as the table of calls has it; of one that is not known by its path, nothing is known. */
export type AnswerOf<R extends Route> = string extends R['path']
  ? unknown
  : {
      [N in RouteName]: Pick<Routes[N], 'method' | 'path'> extends Pick<R, 'method' | 'path'> ? RouteAnswer<N> : never;
    }[RouteName];
