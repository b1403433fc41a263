/** Binds a handler to every route of the contract: one that is missing, or answers something else, does not compile. */
import type { RouteName } from '../../core/contract/routes.ts';
import * as agents from './agent-routes.ts';
import * as groups from './group-routes.ts';
import type { Serve } from './handler.ts';
import * as nodes from './node-routes.ts';
import * as reads from './read-routes.ts';
import { summary } from './summary-route.ts';
import { recoverRoute } from './recover-route.ts';
import * as vms from './vm-routes.ts';

/** Its schemas are built for whoever asks for the document, and in no other cold start. */
const openapi: Serve<'getOpenapi'> = async () => {
  const { openapiDocument } = await import('./openapi.ts');
  return { status: 200, body: openapiDocument() };
};

export const HANDLERS: { readonly [N in RouteName]: Serve<N> } = {
  reportNode: agents.reportNodeRoute,
  listHostVms: agents.hostVmsRoute,
  reportVm: agents.reportVmRoute,
  getLaunch: agents.launchRoute,
  listNodes: nodes.listNodes,
  getNode: nodes.getNode,
  listNodeEvents: nodes.nodeEvents,
  deleteNode: nodes.deleteNode,
  retryNode: nodes.retryNode,
  holdNode: nodes.holdNode,
  releaseNode: nodes.releaseNode,
  fenceNode: nodes.fenceNode,
  moveNode: nodes.moveNode,
  listGroups: groups.listGroups,
  getGroup: groups.getGroup,
  putGroup: groups.putGroup,
  deleteGroup: groups.deleteGroup,
  pauseGroup: groups.pauseGroup,
  resumeGroup: groups.resumeGroup,
  closeBreaker: groups.closeBreaker,
  openWindow: groups.openWindow,
  closeWindow: groups.closeWindow,
  expedite: groups.expedite,
  listVms: vms.listVms,
  getVm: vms.getVm,
  putVm: vms.putVm,
  deleteVm: vms.deleteVm,
  listVmEvents: vms.vmEvents,
  startVm: vms.startVm,
  stopVm: vms.stopVm,
  restartVm: vms.restartVm,
  askConsole: vms.askConsole,
  getConsole: vms.getConsole,
  listEvents: reads.readEvents,
  getSummary: summary,
  recover: recoverRoute,
  getOpenapi: openapi,
};
