import { Venue } from './venue.js'
import { VenuePro } from './pro.js'

export { Venue } from './venue.js'
export { VenuePro } from './pro.js'

/** The part of the module `ccxt` that a registration changes. */
export interface Registry {
  readonly exchanges: string[]
  readonly pro: object
}

/** Where a deployment is reached, and any other setting of the class. */
export interface Deployment {
  /** For example `https://venue.example`. */
  readonly baseUrl: string
  readonly [setting: string]: unknown
}

/**
 * Makes `ccxt[name]` and `ccxt.pro[name]` classes of one deployment, and lists the name in `ccxt.exchanges`: what finds an exchange by
 * its name finds it then. Each deployment needs a name of its own.
 */
export function register(ccxt: Registry, name: string, { baseUrl, ...settings }: Deployment): void {
  const own = { id: name, urls: { api: { rest: baseUrl } }, ...settings }
  const classes = ccxt as unknown as Record<string, unknown>
  const pro = ccxt.pro as Record<string, unknown>
  classes[name] = class extends Venue {
    override describe(): any {
      return this.deepExtend(super.describe(), own)
    }
  }
  pro[name] = class extends VenuePro {
    override describe(): any {
      return this.deepExtend(super.describe(), own)
    }
  }
  if (!ccxt.exchanges.includes(name)) ccxt.exchanges.push(name)
}
