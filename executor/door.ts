import type Koa from 'koa'
import { createHash, timingSafeEqual } from 'node:crypto'
import { refusals } from '../core/entry/refusals.js'
import type { HttpState } from '../runtime/http/server.js'
import { executorRefusals, refuse } from './refusals.js'

/** Who is let in. */
export interface DoorRules {
  /** Callers send it as `Authorization: Bearer …`. */
  readonly secret: string
  /** Names by which callers reach the executor, besides loopback's; lower case, without a port. */
  readonly hosts: readonly string[]
}

const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '::1']

/**
 * Lets in who calls the executor by a name of its own, is not a web page, and has the secret (SET-048, SET-049): 403 for an `Origin`,
 * which only browsers send, or for another `Host`, by which a page reaches an address that its own name was moved to; 401
 * without the secret. The connection of any other caller is closed, and its body is not read.
 */
export function guardDoor({ secret, hosts }: DoorRules): Koa.Middleware<HttpState> {
  // Digests have one length, so the comparison takes the same time whatever was sent.
  const expected = digest(`Bearer ${secret}`)
  const own = new Set([...LOOPBACK_HOSTS, ...hosts.map((host) => host.toLowerCase())])
  return async (ctx, next) => {
    const refusal = refusalOf(ctx)
    if (refusal === undefined) {
      await next()
      return
    }
    if (refusal === executorRefusals.secretRequired) ctx.set('WWW-Authenticate', 'Bearer')
    ctx.set('Connection', 'close')
    refuse(ctx, refusal)
  }

  function refusalOf(ctx: Koa.ParameterizedContext<HttpState>) {
    if (ctx.get('origin') !== '') return refusals.originNotAllowed
    const host = hostOf(ctx.get('host'))
    if (!own.has(host) && host !== addressOf(ctx.req.socket.localAddress))
      return executorRefusals.foreignHost
    const isKnown = timingSafeEqual(digest(ctx.get('authorization')), expected)
    return isKnown ? undefined : executorRefusals.secretRequired
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** The name or the address of a `Host`, without port and brackets; empty when there is none. */
const hostOf = (header: string): string =>
  header
    .replace(/:[0-9]*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase()

/** A socket that takes both families names addresses of the older one in the form of the newer one. */
const addressOf = (local: string | undefined): string | undefined => local?.replace(/^::ffff:/, '')

/** Whether a body is said to be JSON, the one type that a web page cannot send without asking first. */
export const isJsonType = (contentType: string): boolean =>
  /^application\/json\s*(;|$)/i.test(contentType.trim())
