import { privateKeyToAccount } from 'viem/accounts'
import type { GatewayDeps } from '../../../api-gateway/context.js'
import { createOwnWrites } from '../../../api-gateway/reads.js'
import type { Hex } from '../../../core/action.js'
import { frameMessage } from '../../../core/entry/auth-frame.js'
import type { Block } from '../../../core/model/change.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { aMarket, testPrivateKey } from '../../support/builders.js'
import { aBookShelf, aGatewayStage, type GatewayStage } from '../../support/gateway-stage.js'
import { openHistory } from '../../support/history.js'

/** When the gateway of these tests thinks it is. */
export const NOW_MS = Date.parse('2026-11-21T10:00:00Z')
export const NOW_SEC = NOW_MS / 1000
export const FRAME_WORDS = { domain: 'venue.test', product: 'service' }

export interface HistoryGateway extends GatewayStage {
  readonly history: ReturnType<typeof openHistory>
  /** How far the feed of each market has come on the bus, as far as it is known. */
  readonly heads: Map<string, number>
  /** Projects the next blocks of one market, all in one transaction. */
  project(blocks: readonly Block[]): void
  /** GET with the owner's frame, or with the header given. */
  get(path: string, auth?: string): ReturnType<GatewayStage['send']>
}

/** A gateway over a real read model of the spot market, on disk and empty at first. */
export async function aHistoryGateway(
  overrides: Partial<GatewayDeps> = {},
): Promise<HistoryGateway> {
  const history = openHistory(overrides.markets ?? [aMarket()])
  const readModel = openReadModel(history.path)
  const heads = new Map<string, number>()
  const ownWrites = createOwnWrites({
    readModel,
    maxWaitMs: 100,
    readHead: (market) => Promise.resolve(heads.get(market) ?? 0),
  })
  const stage = await aGatewayStage({
    readModel,
    ownWrites,
    auth: AUTH,
    books: aBookShelf(readModel),
    ...overrides,
  })
  return {
    ...stage,
    history,
    heads,
    project: (blocks) => {
      const { streamSeq } = history.projection.position(blocks[0]?.market ?? aMarket().market)
      history.projection.applyBatch(
        blocks.map((block, index) => ({ streamSeq: streamSeq + 1 + index, block })),
      )
    },
    get: (path, auth) =>
      stage.send('GET', path, { headers: auth === undefined ? {} : { 'x-service-auth': auth } }),
    close: async () => {
      await stage.close()
      readModel.close()
      history.remove()
    },
  }
}

const AUTH = { header: 'X-Service-Auth', words: FRAME_WORDS }

/** The owner that `authHeader` speaks for by default. */
export const frameOwner = privateKeyToAccount(testPrivateKey).address.toLowerCase() as Hex

export interface FrameFields {
  readonly address?: string
  readonly nonce?: string
  readonly issued_at?: number
  readonly expiry?: number
}

/** A header with a signed frame; `text` changes what is signed and `sent` what is sent. */
export async function authHeader(
  fields: FrameFields = {},
  {
    text = (frame: Required<FrameFields>) =>
      frameMessage('history', FRAME_WORDS, { ...frame, issuedAt: frame.issued_at }),
    sent = {},
    privateKey = testPrivateKey,
  }: {
    text?: (frame: Required<FrameFields>) => string
    sent?: Readonly<Record<string, unknown>>
    privateKey?: Hex
  } = {},
): Promise<string> {
  const account = privateKeyToAccount(privateKey)
  const frame = {
    address: account.address as string,
    nonce: 'n-1',
    issued_at: NOW_SEC - 10,
    expiry: NOW_SEC + 3_600,
    ...fields,
  }
  const signature = await account.signMessage({ message: text(frame) })
  return Buffer.from(JSON.stringify({ ...frame, signature, ...sent })).toString('base64url')
}
