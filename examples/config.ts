import { join } from 'node:path'

/** `devnet.json` of the venue that `./venue up` runs with the same DATA_DIR. */
export const defaultDevnetFile = (): string => join(process.env.DATA_DIR || 'var', 'devnet.json')
