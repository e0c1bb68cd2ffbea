import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { createRestClient, createSeenSeqs } from '../client/index.js'
import { request, urlOf } from '../client/request.js'
import { readKeyFile } from './key-file.js'
import type { Options } from './options.js'
import { orderToolsOf } from './order-tools.js'
import { openOwner } from './owner.js'
import { readToolsOf } from './read-tools.js'
import type { SentOrders } from './sent-orders.js'
import { createServer } from './server.js'

const TIMEOUT_MS = 10_000

/**
 * The server for a venue that answers now: its document says which reads there are. Throws KeyFileRefused before it asks the venue
 * for anything, then VenueError and BadDocument.
 */
export async function openServer(
  options: Options,
  version: string,
  sent: SentOrders,
): Promise<Server> {
  const { venueUrl, keyFile, bounds } = options
  const signer = keyFile === undefined ? undefined : readKeyFile(keyFile)
  const seen = createSeenSeqs()
  const venue = createRestClient(venueUrl, { seen })
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const document = await request<unknown>(urlOf(venueUrl, '/v1/openapi.json'), { signal })
  if (signer === undefined)
    return createServer({ tools: readToolsOf(document, { venueUrl, seen }), version })
  const owner = await openOwner(signer, options.owner as `0x${string}` | undefined, venue)
  const { frame, address } = owner
  const tools = readToolsOf(document, { venueUrl, seen, frame })
  if (bounds !== undefined) tools.push(...orderToolsOf({ venue, owner, bounds, sent }))
  return createServer({ tools, version, owner: address })
}
