import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

type Sent = Pick<IncomingMessage, 'headers' | 'socket'>

/**
 * The client's address: what the outermost of our own proxies wrote into `X-Forwarded-For`, because what is before that
 * the client may have written itself; without proxies, or without their entries, the address of the connection.
 */
export function clientAddress(request: Sent, trustedProxies: number): string {
  const peer = peerOf(request)
  if (trustedProxies === 0) return peer
  return forwardedFor(request).at(-trustedProxies) || peer
}

/** The entries of `X-Forwarded-For`, the newest last; one empty entry without the header. */
export const forwardedFor = ({ headers }: Pick<Sent, 'headers'>): string[] =>
  [headers['x-forwarded-for'] ?? []]
    .flat()
    .join()
    .split(',')
    .map((entry) => entry.trim())

export const peerOf = ({ socket }: Pick<Sent, 'socket'>): string =>
  socket.remoteAddress ?? 'unknown'

export const isLoopback = (address: string): boolean =>
  address === '::1' || /^(::ffff:)?127\./.test(address)

/** Groups of an IPv6 address that name a network; one client has the rest of them to itself. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/** What counts as one client: an IPv4 address, or the /64 network of an IPv6 address. */
export function clientKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [before = '', after] = address.split('::')
  const groupsOf = (part = ''): string[] => part.split(':').filter((group) => group !== '')
  const [left, right] = [groupsOf(before), groupsOf(after)]
  const absent = Array.from({ length: GROUPS - left.length - right.length }, () => '0')
  const network = [...left, ...absent, ...right].slice(0, NETWORK_GROUPS)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
