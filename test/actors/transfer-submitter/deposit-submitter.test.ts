import { expect } from 'chai'
import { erc20Abi } from '../../../chain/abi/contracts.js'
import { encodePermit } from '../../../chain/contracts/calldata.js'
import type { Hex } from '../../../core/action.js'
import { balanceOf, perform, type Trader } from '../../support/devnet-world.js'
import { depositBody, signPermit, TEN, walletOf } from './requests.js'
import {
  approve,
  freshOwner,
  PURSE,
  recordIn,
  refusalIn,
  startDeposits,
  transferStage,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

const CASH_PER_UNIT = 10n ** 12n

describe('deposit submitter', () => {
  let stage: TransferStage
  let deposits: TestSubmitter
  let owner: Trader

  before(async function () {
    stage = await transferStage()
    deposits = await startDeposits(stage)
  })
  beforeEach(async () => {
    owner = await freshOwner(stage)
  })
  after(() => deposits.end())

  const wallet = () => walletOf(stage.world, stage.world.at.usdc, owner.address)
  const cashOf = (id: bigint) => balanceOf(stage.world, id, stage.world.at.cash_asset)
  const sent = () => stage.world.client.getTransactionCount({ address: deposits.address })

  it('opens an account under the perp manager and funds it to the last unit (TRA-026)', async () => {
    const { world } = stage
    await approve(stage, owner.address, TEN)
    const record = recordIn(await deposits.ask(await depositBody(world, owner)))
    expect(record).to.include({ status: 'confirmed', owner: owner.address, amount: TEN })
    expect(record.credited).to.equal(TEN * CASH_PER_UNIT)
    expect(record).to.not.have.property('permitTxHash')
    const id = record.subaccountId ?? 0n
    expect(id > 0n).to.equal(true)
    expect(await cashOf(id)).to.equal(TEN * CASH_PER_UNIT)
    expect(await wallet()).to.equal(PURSE - TEN)
    const receipt = await world.client.getTransactionReceipt({ hash: record.txHash as Hex })
    expect(record.blockNumber).to.equal(receipt.blockNumber)
  })

  it('tops up the account that the action names', async () => {
    const { world } = stage
    await approve(stage, owner.address, 3n * TEN)
    const opened = recordIn(await deposits.ask(await depositBody(world, owner)))
    const subaccountId = opened.subaccountId ?? 0n
    const manager = `0x${'0'.repeat(40)}` as const
    const body = await depositBody(world, owner, { amount: 2n * TEN, manager }, { subaccountId })
    const record = recordIn(await deposits.ask(body))
    expect(record).to.include({ status: 'confirmed', subaccountId })
    expect(await cashOf(subaccountId)).to.equal(3n * TEN * CASH_PER_UNIT)
    expect(await wallet()).to.equal(PURSE - 3n * TEN)
  })

  it('sends the permit first when the allowance is short (TRA-030)', async () => {
    const { world } = stage
    const permit = await signPermit(world, owner, TEN)
    const record = recordIn(await deposits.ask(await depositBody(world, owner, { permit })))
    expect(record.status).to.equal('confirmed')
    const { status } = await world.client.getTransactionReceipt({
      hash: record.permitTxHash as Hex,
    })
    expect(status).to.equal('success')
    expect(await wallet()).to.equal(PURSE - TEN)
  })

  it('sends the second permit of an owner as well as the first (TRA-030)', async () => {
    const { world } = stage
    const hashes: unknown[] = []
    for (let no = 0; no < 2; no += 1) {
      const permit = await signPermit(world, owner, TEN)
      const record = recordIn(await deposits.ask(await depositBody(world, owner, { permit })))
      expect(record.status).to.equal('confirmed')
      hashes.push(record.permitTxHash)
    }
    expect(new Set(hashes)).to.have.length(2).and.not.include(undefined)
    expect(await wallet()).to.equal(PURSE - 2n * TEN)
  })

  it('skips a permit, even one that is no good, when the allowance covers the deposit (TRA-030)', async () => {
    await approve(stage, owner.address, TEN)
    const permit = await signPermit(stage.world, owner, 1n, { deadline: 1n })
    const before = await sent()
    const record = recordIn(await deposits.ask(await depositBody(stage.world, owner, { permit })))
    expect(record.status).to.equal('confirmed')
    expect(record).to.not.have.property('permitTxHash')
    expect((await sent()) - before).to.equal(1)
  })

  it('is not hindered by a permit that another account sent before', async () => {
    const { world } = stage
    const permit = await signPermit(world, owner, TEN)
    const body = await depositBody(world, owner, { permit })
    const { value, deadline, signature } = permit
    const data = encodePermit({
      owner: owner.address,
      spender: world.at.deposit_module,
      value: BigInt(value),
      deadline: BigInt(deadline),
      signature,
    })
    await perform(world, { from: world.bob.address, to: world.at.usdc, data })
    const record = recordIn(await deposits.ask(body))
    expect(record.status).to.equal('confirmed')
    expect(record).to.not.have.property('permitTxHash')
  })

  it('answers every repeat from the record, whatever its signature, and submits nothing (TRA-007)', async () => {
    await approve(stage, owner.address, 5n * TEN)
    const body = await depositBody(stage.world, owner)
    const first = recordIn(await deposits.ask(body))
    const before = await sent()
    const junk = { ...body, signature: `0x${'11'.repeat(65)}` }
    const repeats = await Promise.all([body, junk, body].map((each) => deposits.ask(each)))
    for (const repeat of repeats) expect(recordIn(repeat)).to.deep.equal(first)
    expect(recordIn(await deposits.lookUp(first.actionHash))).to.deep.equal(first)
    expect(await sent()).to.equal(before)
    expect(await wallet()).to.equal(PURSE - TEN)
  })

  it('makes one transaction of 200 concurrent requests for one action (TRA-007)', async () => {
    await approve(stage, owner.address, PURSE)
    const body = await depositBody(stage.world, owner)
    const before = await sent()
    const answers = await Promise.all(Array.from({ length: 200 }, () => deposits.ask(body)))
    const statuses = new Set(answers.map((answer) => recordIn(answer).status))
    expect(
      [...statuses].filter((it) => !['pending', 'submitted', 'confirmed'].includes(it)),
    ).to.deep.equal([])
    expect(statuses.has('confirmed')).to.equal(true)
    expect((await sent()) - before).to.equal(1)
    expect(await wallet()).to.equal(PURSE - TEN)
  })

  it('knows nothing of an action that was never sent', async () => {
    const answer = await deposits.lookUp(`0x${'77'.repeat(32)}`)
    expect(refusalIn(answer)).to.include({ status: 404, code: 'deposit_not_found' })
  })

  it('tells what gas it paid, by the receipts', async () => {
    await approve(stage, owner.address, TEN)
    const before = await deposits.gas()
    const record = recordIn(await deposits.ask(await depositBody(stage.world, owner)))
    const receipt = await stage.world.client.getTransactionReceipt({ hash: record.txHash as Hex })
    const paid = receipt.gasUsed * receipt.effectiveGasPrice
    const after = await deposits.gas()
    expect(after.hourSpentWei - before.hourSpentWei).to.equal(paid)
    expect(after).to.include({ signer: deposits.address, hourBudgetWei: 10n ** 18n })
    expect(after).to.not.have.property('paused')
  })

  it('leaves no allowance behind that was not given', async () => {
    const permit = await signPermit(stage.world, owner, TEN)
    await deposits.ask(await depositBody(stage.world, owner, { permit }))
    const left = await stage.world.client.readContract({
      address: stage.world.at.usdc,
      abi: erc20Abi,
      functionName: 'allowance',
      args: [owner.address, stage.world.at.deposit_module],
    })
    expect(left).to.equal(0n)
  })
})
