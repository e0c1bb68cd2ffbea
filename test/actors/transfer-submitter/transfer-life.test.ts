import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { transfersStream, transferSubject } from '../../../bus-schemas/subjects.js'
import { decodeTransferProgress } from '../../../bus-schemas/transfers.js'
import { erc20Abi, matchingAbi } from '../../../chain/abi/contracts.js'
import type { Address, Hex } from '../../../core/action.js'
import type { TransferRecord } from '../../../core/transfer.js'
import { balanceOf, type Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { STOP_DEADLINE_MS } from '../../../runtime/process/process.js'
import { startRpcProxy, type RpcProxy } from '../../support/rpc-proxy.js'
import { depositBody, signPermit, TEN, walletOf } from './requests.js'
import {
  approve,
  freshOwner,
  PURSE,
  recordIn,
  startDeposits,
  transferStage,
  type SubmitterSetup,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const SHORT_MS = 1_500

describe('the life of a deposit', () => {
  let stage: TransferStage
  let deposits: TestSubmitter
  let owner: Trader

  before(async function () {
    stage = await transferStage()
  })
  beforeEach(async () => {
    owner = await freshOwner(stage)
    await approve(stage, owner.address, PURSE)
  })
  afterEach(async () => {
    await stage.world.client.setAutomine(true)
    await deposits.end()
  })

  const begin = async (setup: SubmitterSetup = {}) =>
    (deposits = await startDeposits(stage, { answerWithinMs: SHORT_MS, ...setup }))
  const wallet = () => walletOf(stage.world, stage.world.at.usdc, owner.address)
  const lookUp = async (hash: Hex) => recordIn(await deposits.lookUp(hash))
  const becomes = (hash: Hex, status: TransferRecord['status']) =>
    eventually(async () => {
      expect((await lookUp(hash)).status).to.equal(status)
    })

  /** The statuses of an action in the order in which the stream of transfers tells of them. */
  async function told(actionHash: Hex): Promise<string[]> {
    const { bus } = deposits
    const { lastSeq } = await bus.streamState(transfersStream)
    const messages = await bus.read(transfersStream, 1, lastSeq)
    const records = messages.map(({ data }) => decodeTransferProgress(data))
    const own = records.filter((record) => record.actionHash === actionHash)
    return own.map(({ status }) => status).filter((it, i, all) => it !== all[i - 1])
  }

  it('pending, submitted, confirmed, each told on the bus (TRA-008)', async () => {
    await begin()
    const { client } = stage.world
    await client.setAutomine(false)
    const body = await depositBody(stage.world, owner)
    const record = recordIn(await deposits.ask(body))
    expect(record.status).to.equal('submitted')
    expect(record).to.have.property('txHash')
    expect(record).to.not.have.any.keys('blockNumber', 'subaccountId')
    expect((await lookUp(record.actionHash)).status).to.equal('submitted')
    await client.mine({ blocks: 1 })
    const settled = await lookUp(record.actionHash)
    expect(settled.status).to.equal('confirmed')
    expect(settled.subaccountId ?? 0n).to.not.equal(0n)
    expect(recordIn(await deposits.ask(body))).to.deep.equal(settled)
    await eventually(async () => {
      expect(await told(record.actionHash)).to.deep.equal(['pending', 'submitted', 'confirmed'])
    })
    expect(transferSubject('deposit', record.actionHash)).to.include(record.actionHash.slice(2))
  })

  it('reverted, when the chain changed under way', async () => {
    await begin()
    const { world } = stage
    await world.client.setAutomine(false)
    const body = await depositBody(world, owner)
    const { actionHash } = recordIn(await deposits.ask(body))
    await outbid(owner.address, world.at.usdc, {
      abi: erc20Abi,
      functionName: 'transfer',
      args: [world.bob.address, PURSE],
    })
    await becomes(actionHash, 'reverted')
    const record = await lookUp(actionHash)
    expect(record.revert).to.equal('ERC20InsufficientBalance')
    expect(record).to.not.have.property('subaccountId')
    expect(recordIn(await deposits.ask(body))).to.deep.equal(record)
    // Its place is free again.
    const next = await deposits.ask(await depositBody(world, owner))
    expect(next).to.have.nested.property('refusal.code', 'insufficient_balance')
  })

  describe('with a node that loses things', () => {
    let proxy: RpcProxy
    beforeEach(async () => {
      proxy = await startRpcProxy(stage.world.anvil.rpcUrl)
      await begin({ rpcUrl: proxy.rpcUrl })
    })
    afterEach(() => proxy.stop())

    it('unknown while no node has confirmed it, then confirmed, by one transaction (TRA-011)', async () => {
      proxy.fateOf = (method) => (method === 'eth_sendRawTransaction' ? 'lose' : 'pass')
      const body = await depositBody(stage.world, owner)
      const record = recordIn(await deposits.ask(body))
      expect(record.status).to.equal('unknown')
      expect(record).to.have.property('error')
      expect(recordIn(await deposits.ask(body)).status).to.equal('unknown')
      expect(await wallet()).to.equal(PURSE)
      proxy.fateOf = () => 'pass'
      await becomes(record.actionHash, 'confirmed')
      expect(await lookUp(record.actionHash)).to.not.have.property('error')
      expect(await wallet()).to.equal(PURSE - TEN)
      const address = deposits.address
      expect(await stage.world.client.getTransactionCount({ address })).to.equal(1)
    })

    it('resolves by the receipt when only the answer to the broadcast was lost', async () => {
      proxy.fateOf = (method) => (method === 'eth_sendRawTransaction' ? 'lose answer' : 'pass')
      const record = recordIn(await deposits.ask(await depositBody(stage.world, owner)))
      await becomes(record.actionHash, 'confirmed')
      expect(await wallet()).to.equal(PURSE - TEN)
    })

    it('resolves by a lookup when the node was gone after the broadcast', async () => {
      const { client } = stage.world
      await client.setAutomine(false)
      const asked = depositBody(stage.world, owner).then((body) => deposits.ask(body))
      await eventually(() => proxy.asked.includes('eth_sendRawTransaction'))
      proxy.fateOf = () => 'lose'
      const record = recordIn(await asked)
      expect(record.status).to.be.oneOf(['submitted', 'unknown'])
      await client.mine({ blocks: 1 })
      expect((await lookUp(record.actionHash)).status).to.equal(record.status)
      proxy.fateOf = () => 'pass'
      await becomes(record.actionHash, 'confirmed')
    })

    it('stops in time while the node answers nothing, with a request in flight', async () => {
      const body = await depositBody(stage.world, owner)
      let held = 0
      proxy.fateOf = () => {
        held += 1
        return { after: new Promise(() => undefined) }
      }
      await eventually(() => held > 0)
      const asked = deposits.ask(body)
      await eventually(() => held > 1)
      const stoppedAt = performance.now()
      const [answer] = await Promise.all([asked, deposits.stop()])
      // Half of it is for the machine; a question is asked for 15 s.
      expect(performance.now() - stoppedAt).to.be.below(2 * STOP_DEADLINE_MS)
      expect(answer).to.have.nested.property('refusal.status', 503)
      await begin()
    })
  })

  it('goes back to submitted when the chain loses its block, and takes the account it then opens (TRA-022)', async () => {
    await begin()
    const { world } = stage
    const snapshot = await world.client.snapshot()
    const body = await depositBody(world, owner)
    const first = recordIn(await deposits.ask(body))
    expect(first.status).to.equal('confirmed')
    await world.client.setAutomine(false)
    await world.client.revert({ id: snapshot })
    await becomes(first.actionHash, 'submitted')
    expect(await lookUp(first.actionHash)).to.not.have.any.keys(
      ...['subaccountId', 'credited', 'blockNumber'],
    )
    await outbid(world.bob.address, world.at.matching, {
      abi: matchingAbi,
      functionName: 'createSubAccount',
      args: [world.at.perp_manager],
    })
    await becomes(first.actionHash, 'confirmed')
    const again = await lookUp(first.actionHash)
    expect(again.txHash).to.equal(first.txHash)
    // Bob's account came first this time.
    expect(again.subaccountId).to.equal((first.subaccountId ?? 0n) + 1n)
    const cash = await balanceOf(world, again.subaccountId ?? 0n, world.at.cash_asset)
    expect(cash).to.equal(TEN * 10n ** 12n)
    expect(await wallet()).to.equal(PURSE - TEN)
  })

  /** Mines a call that bids more than what waits, so that it comes first in the block. */
  async function outbid(
    from: Address,
    to: Address,
    call: Parameters<typeof encodeFunctionData>[0],
  ): Promise<void> {
    const { client } = stage.world
    const fees = { maxFeePerGas: '0x2540be400', maxPriorityFeePerGas: '0x2540be400' }
    const transaction = { from, to, data: encodeFunctionData(call), gas: '0x80000', ...fees }
    await client.request({ method: 'eth_sendTransaction', params: [transaction] } as never)
    await client.mine({ blocks: 1 })
  }

  it('sends one permit and one deposit, however often it is interrupted between them', async () => {
    await begin()
    const { world } = stage
    await approve(stage, owner.address, 0n)
    await world.client.setAutomine(false)
    const permit = await signPermit(world, owner, TEN)
    const body = await depositBody(world, owner, { permit })
    const record = recordIn(await deposits.ask(body))
    expect(record).to.include({ status: 'pending' })
    expect(record).to.have.property('permitTxHash')
    for (let i = 0; i < 2; i += 1) {
      await deposits.stop()
      const { dataDir, privateKey } = deposits
      await begin({ dataDir, privateKey })
      expect(recordIn(await deposits.ask(body)).status).to.equal('pending')
    }
    await world.client.setAutomine(true)
    await world.client.mine({ blocks: 1 })
    await becomes(record.actionHash, 'confirmed')
    const settled = await lookUp(record.actionHash)
    expect(settled.permitTxHash).to.equal(record.permitTxHash)
    const { address } = deposits
    expect(await world.client.getTransactionCount({ address })).to.equal(2)
    expect(await wallet()).to.equal(PURSE - TEN)
  })
})
