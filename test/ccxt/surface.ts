import type { VenuePro } from '../../ccxt/index.js'

export type Method = (...args: unknown[]) => unknown

/** Flags of `has` that are no methods. */
const FLAGS = new Set([
  ...['publicAPI', 'privateAPI', 'CORS', 'sandbox', 'spot', 'margin', 'swap', 'future', 'option'],
  ...['index', 'ws'],
])

/** The methods that `has` speaks of, by their names. */
export const methodsOf = (exchange: VenuePro): [string, Method][] =>
  Object.keys(exchange.has).flatMap((name) => {
    const method = (exchange as unknown as Record<string, unknown>)[name]
    return FLAGS.has(name) || typeof method !== 'function' ? [] : [[name, method as Method]]
  })
