import type { IncomingMessage } from 'node:http'

/**
 * Who sent a request: the peer of the connection or, behind our own proxies, the entry of `X-Forwarded-For` that the
 * outermost of them wrote. Entries before that one are the client's own words.
 */
export function clientAddress(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  trustedProxies: number,
): string {
  const peer = socket.remoteAddress ?? 'unknown'
  if (trustedProxies === 0) return peer
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join().split(',')
  return forwarded.at(-trustedProxies)?.trim() || peer
}
