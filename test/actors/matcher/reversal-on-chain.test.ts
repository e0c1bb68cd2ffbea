import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { tradeModuleAbi } from '../../../chain/abi/contracts.js'
import type { Change } from '../../../core/model/change.js'
import { historyPath } from '../../../data/history/project.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { openJournalReader } from '../../../data/journal/read-journal.js'
import { runAudit } from '../../support/audit.js'
import type { Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { EXECUTOR_KEY } from '../../support/executor-world.js'
import { openPocketVenue, type PocketVenue } from '../../support/pocket-venue.js'
import { startRpcProxy, type RpcProxy } from '../../support/rpc-proxy.js'

const MARKET = 'cNGN-USDC'
/** More than a chain is expected to lose. */
const FINAL_BLOCKS = 14
const WITHIN_MS = 60_000
const E18 = 10n ** 18n

describe('settlements on a chain that changes its mind', function () {
  let venue: PocketVenue
  let proxy: RpcProxy

  beforeEach(async () => {
    venue = await openPocketVenue({ SETTLEMENT_LATE_SECONDS: '1' })
    proxy = await startRpcProxy(venue.world.anvil.rpcUrl)
    await Promise.all((['intake', 'matcher', 'projector'] as const).map((it) => venue.start(it)))
    await venue.start('executor', undefined, { RPC_URL: proxy.rpcUrl })
  })
  afterEach(async () => {
    await venue?.stop()
    await proxy?.stop()
  })

  const filledOnChain = (owner: Trader, nonce: string): Promise<bigint> =>
    venue.world.client.readContract({
      address: venue.world.at.spot_trade_module,
      abi: tradeModuleAbi,
      functionName: 'filled',
      args: [owner.address, BigInt(nonce)],
    })
  const standing = async () => {
    const answer = await venue.bus.ask(askPing(`matcher-${MARKET}`), new Uint8Array(), 1_000)
    return decodePingAnswer(answer).positions
  }

  /** Bob sells, Alice buys as much. */
  async function anOrderPair() {
    const { alice, bob } = venue.world
    const maker = await venue.order(bob, 'sell', '100')
    const taker = await venue.order(alice, 'buy', '100')
    const ids = [maker, taker].map(({ order_id: id }) => `${id}`)
    const changes = (kind: Change['kind']) =>
      venue.changesOf(ids).then((all) => all.filter((change) => change.kind === kind))
    const becomes = (kind: Change['kind'], count: number) =>
      eventually(async () => expect(await changes(kind)).to.have.length(count), WITHIN_MS)
    return { maker, taker, changes, becomes, filled: () => filledOnChain(bob, `${maker.nonce}`) }
  }

  it('takes a fill back on feed, reads and in the audit when its block is lost and it reverts for good (SET-043)', async () => {
    const { client } = venue.world
    const before = await client.snapshot()
    const { maker, taker, changes, becomes, filled } = await anOrderPair()
    await venue.place(maker)
    await venue.place(taker)
    await becomes('OrderFilled', 2)
    expect(await filled()).to.equal(100n * E18)

    await client.revert({ id: before })
    // Code at the maker's address: what its key has signed counts no longer.
    await client.setCode({ address: venue.world.bob.address, bytecode: '0x6000' })
    await client.mine({ blocks: FINAL_BLOCKS })
    await eventually(async () => {
      await client.mine({ blocks: 1 })
      return (await changes('FillReversed')).length === 2
    }, WITHIN_MS)

    expect(await filled()).to.equal(0n)
    for (const change of await changes('FillReversed')) {
      expect(change).to.include({ status: 'cancelled', filled: 0n, open: 0n })
      expect(change).to.include({ cancelReason: 'settlement_reversed' })
    }
    const reads = openReadModel(historyPath(venue.dataDir))
    try {
      await eventually(() => expect(reads.trades(MARKET, 10)[0]?.reversed).to.equal(true))
      expect(reads.lastPrice(MARKET)).to.equal(undefined)
      expect(reads.stats24h(MARKET, Date.now())).to.equal(undefined)
      const [fill] = reads.fills(venue.world.alice.address, { limit: 10 })
      expect(fill).to.include({ reversed: true, orderId: `${taker.order_id}` })
    } finally {
      reads.close()
    }
    const { code, output } = await runAudit({ ...process.env, ...venue.env })
    expect(code, output).to.equal(0)
  })

  it('settles a match once that a foreign transaction displaced, under another nonce', async () => {
    const { client } = venue.world
    const { maker, taker, becomes, changes, filled } = await anOrderPair()
    await venue.place(maker)
    await client.setAutomine(false)
    await venue.place(taker)
    await eventually(async () => (await client.getTxpoolStatus()).pending === 1, WITHIN_MS)
    const account = privateKeyToAccount(EXECUTOR_KEY)
    const nonce = await client.getTransactionCount({ address: account.address })
    const fee = 10n ** 12n
    const raw = await account.signTransaction({
      chainId: client.chain.id,
      nonce,
      to: account.address,
      gas: 21_000n,
      maxFeePerGas: fee,
      maxPriorityFeePerGas: fee,
      type: 'eip1559',
    })
    await client.sendRawTransaction({ serializedTransaction: raw })
    await client.mine({ blocks: 1 })
    await client.setAutomine(true)
    await client.mine({ blocks: FINAL_BLOCKS })
    const journal = openJournalReader(venue.dataDir)
    await eventually(async () => {
      await client.mine({ blocks: 1 })
      return journal?.open().count === 0
    }, WITHIN_MS)
    journal?.close()
    // The sender is frozen until an operator restarts the executor.
    venue.signal('executor', 'SIGTERM')
    await venue.ended('executor')
    await venue.start('executor', undefined, { RPC_URL: proxy.rpcUrl })
    await becomes('OrderFilled', 2)
    expect(await filled()).to.equal(100n * E18)
    expect(await changes('FillReversed')).to.deep.equal([])
  })

  it('says that a settlement is late while the chain cannot be read, and settles it afterwards', async () => {
    const { maker, taker, becomes, filled } = await anOrderPair()
    await venue.place(maker)
    proxy.fateOf = () => 'lose'
    await venue.place(taker)
    await eventually(async () => {
      const { pending_settlements: pending, late_settlements: late } = await standing()
      return pending === 1 && late === 1
    }, WITHIN_MS)
    expect((await standing()).oldest_pending_settlement_s).to.be.at.least(1)
    proxy.fateOf = () => 'pass'
    await becomes('OrderFilled', 2)
    expect(await filled()).to.equal(100n * E18)
    await eventually(async () => {
      const { pending_settlements: pending, late_settlements: late } = await standing()
      return pending === 0 && late === 0
    })
  })
})
