import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecuteRequest } from '../../interface/execute.js'
import type { Matcher } from '../../actors/matcher/matcher.js'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { decodeCheckpoint, encodeCheckpoint } from '../../bus-schemas/checkpoint.js'
import { commandMessages } from '../../bus-schemas/commands.js'
import { commandsSubject, feedStream } from '../../bus-schemas/subjects.js'
import { encodeMatch } from '../../chain/contracts/calldata.js'
import { addChainContract } from '../../chain/contracts/registry.js'
import type { Address } from '../../core/action.js'
import { addContract } from '../../core/contracts/registry.js'
import type { Market } from '../../core/model/market.js'
import { applyMessage } from '../../core/engine/apply-message.js'
import { emptyMatcherState } from '../../core/engine/empty-state.js'
import type { Change } from '../../core/model/change.js'
import { openingOf } from '../../core/model/market-terms.js'
import { E18, priceE18 } from '../../core/money.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { defaultMarketFile, loadMarkets } from '../../data/markets.js'
import { openHistory } from '../support/history.js'
import { executePayload } from '../../executor/payload.js'
import { termsOf } from '../../executor/settlement.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { startOn } from '../actors/matcher/stage.js'
import { testAddresses } from '../support/builders.js'
import { claimsOfTerms } from '../support/claims.js'
import { eventually } from '../support/eventually.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../support/intake-stage.js'
import { TOY, toy, toyAccountFacts, toyMarketFacts } from './toy.js'
import { toyOnChain } from './toy-on-chain.js'
import { takeSnapshot } from '../support/snapshots.js'

addContract(toy)
addChainContract(TOY, toyOnChain)

/** The row of market data: the shipped spot market's, with what a toy market has of its own. */
function toyMarket(): Market {
  const folder = mkdtempSync(join(tmpdir(), 'toy-'))
  try {
    const [spot] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Record<string, unknown>[]
    const row = { ...spot }
    delete row.order_entry
    const file = join(folder, 'markets.json')
    const own = { market: 'TOY', ordinal: 9, aliases: [], contract_type: TOY }
    const settlement = { settlement_type: toy.settlementType }
    writeFileSync(file, JSON.stringify([{ ...row, ...own, ...settlement }]))
    const [market] = loadMarkets(testAddresses, file).markets
    if (market === undefined) throw new Error('no market')
    return market
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('a contract type of its own in the venue', () => {
  const market = toyMarket()
  const { encode, decode } = commandMessages(market)
  const payloads: ExecuteRequest[] = []
  let bus: MemoryBus
  let stage: IntakeStage
  let matcher: Matcher
  let stopIntake: () => Promise<void>

  before(async () => {
    bus = createMemoryBus()
    stage = anIntakeStage()
    const started = await startOn(bus, {
      market,
      ask: (_, payload) => {
        payloads.push(payload)
        return Promise.resolve({
          kind: 'success',
          txHash: `0x${'ab'.repeat(32)}`,
          blockNumber: 7n,
        })
      },
    })
    matcher = started.matcher
    const intake = await stage.start(bus, { markets: [market] })
    stopIntake = () => intake.stop()
  })

  after(async () => {
    await stopIntake()
    await matcher.stop()
    stage.close()
    await bus.close()
  })

  const changes = async (): Promise<Change[]> =>
    (await bus.read(feedStream(market.market), 1, 1_000)).flatMap(({ data }) => [
      ...decodeBlock(data).changes,
    ])

  it('takes orders, ends its hold by a fact, matches, settles and projects', async () => {
    for (const [side, subaccountId] of [
      ['sell', 7n],
      ['buy', 8n],
    ] as const) {
      stage.chain.funds = {
        subaccountId,
        leaving: false,
        blockNumber: 1n,
        blockTimeSec: 1,
        facts: toyAccountFacts({ credit: 10n ** 30n }),
        custodyOwner: (await signedBody()).owner_address.toLowerCase() as Address,
      }
      const terms = { market, side, subaccountId, price: '1', amount: '2' }
      const answer = await ask(bus, 'place', await signedBody(terms))
      expect(answer).to.have.property('kind', 'order')
    }
    expect((await changes()).map(({ kind }) => kind)).to.deep.equal(['OrderPlaced', 'OrderPlaced'])

    const observation = {
      facts: toyMarketFacts({ halted: false, mark: priceE18(E18) }),
      blockNumber: 2n,
      blockTimeSec: 2,
      readAtMs: 2_000,
    }
    await bus.append(
      commandsSubject(market.market),
      encode([
        {
          source: 'chain-reader',
          sourceNo: 1,
          atMs: Date.now(),
          command: { kind: 'MarketObserved', observation },
        },
      ]),
    )
    await eventually(
      async () => (await changes()).filter(({ kind }) => kind === 'OrderFilled').length === 2,
    )
    const history = openHistory([market])
    try {
      const blocks = await bus.read(feedStream(market.market), 1, 1_000)
      history.projection.applyBatch(
        blocks
          .map(({ seq, data }) => ({ streamSeq: seq, block: decodeBlock(data) }))
          .filter(({ block }) => block.changes.length > 0),
      )
      const quote = history.db.prepare('SELECT quote FROM trades').pluck().get()
      expect(quote).to.equal(String(2n * E18))
    } finally {
      history.remove()
    }
  })

  it('claims margin headroom in the executor', () => {
    const [payload] = payloads
    const { match } = executePayload.parse(payload)
    const terms = termsOf(match, encodeMatch(match), [market])
    const claims = claimsOfTerms(terms)
    expect(terms.accountIds).to.deep.equal([8n, 7n])
    expect(claims?.map(({ key, debit }) => [key.id, debit])).to.deep.equal(
      [7n, 8n].map((id) => [`${id} margin of ${market.marginManagerAddress}`, (2n * E18) / 10n]),
    )
  })

  it('keeps its facts and state in the log and in checkpoints', async () => {
    const state = emptyMatcherState(openingOf(market))
    const messages = await bus.read(`COMMANDS_${market.market}`, 1, 1_000)
    for (const { seq, data } of messages)
      for (const _ of applyMessage(state, seq, decode(data))) void _
    expect(state.observed?.facts).to.deep.equal(
      toyMarketFacts({ halted: false, mark: priceE18(E18) }),
    )
    const checkpoint = {
      market: market.market,
      commandSeq: messages.length,
      term: 1,
      feed: { messageSeq: 3, sha256: 'a'.repeat(64) },
      state: takeSnapshot(state),
    }
    const parts = [...encodeCheckpoint(checkpoint)].map((text) => Buffer.from(text))
    expect(decodeCheckpoint(parts, market)).to.deep.equal(checkpoint)
  })

  it('shows its own members in the market entry', () => {
    expect(marketEntry(market)).to.deep.include({
      market: 'TOY',
      contract_type: TOY,
      settlement_type: toy.settlementType,
      toy: { credit_unit: 'quote' },
    })
  })
})
