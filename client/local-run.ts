/** Where `npm start` leaves word of itself, and the CLI looks for it. */

/** In the directory where it was started, unless it was told another. */
export const USUAL_DATA = '.holdoff';
/** In the data folder: endpoint, Region and the operator's key. */
export const LOCAL_FILE = 'local.json';
/** In the data folder: the process that holds it. */
export const PID_FILE = 'start.pid';
/**
 * In the usual data folder: a file for each run of this directory that keeps its data elsewhere. Its name is the process,
 * its text the data folder.
 */
export const ELSEWHERE = 'elsewhere';
