import { readFileSync } from 'node:fs'

const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly version: string }

/** The release of this software, as package.json has it. It is not the version of the interface. */
export const VERSION = version
