import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { Action, Address, Hex } from '../../../core/action.js'
import type { TransferRecord } from '../../../core/transfer.js'
import { actionsCall } from '../../support/devnet-actions.js'
import { perform, type Trader } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { depositBody, TEN, walletOf, type SentRequest } from './requests.js'
import {
  approve,
  freshOwner,
  PURSE,
  recordIn,
  startDeposits,
  transferStage,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

/** More than a chain is expected to lose. */
const FINAL_BLOCKS = 14
const PING_MS = 5_000

describe('a deposit whose nonce a foreign transaction took', function () {
  let stage: TransferStage
  let deposits: TestSubmitter
  let owner: Trader

  before(async () => {
    stage = await transferStage()
  })
  beforeEach(async () => {
    owner = await freshOwner(stage)
    await approve(stage, owner.address, PURSE)
    deposits = await startDeposits(stage, { answerWithinMs: 1_000 })
  })
  afterEach(async () => {
    await stage.world.client.setAutomine(true)
    await deposits.end()
  })

  const wallet = () => walletOf(stage.world, stage.world.at.usdc, owner.address)
  const becomes = (hash: Hex, status: TransferRecord['status']) =>
    eventually(async () => {
      expect(recordIn(await deposits.lookUp(hash)).status).to.equal(status)
    }, 30_000)

  /** Submits the deposit, and takes its transaction's nonce; for good once `meanwhile` has happened. */
  async function displace(
    body: SentRequest,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ): Promise<TransferRecord> {
    const { client } = stage.world
    await client.setAutomine(false)
    const record = recordIn(await deposits.ask(body))
    expect(record.status).to.equal('submitted')
    const account = privateKeyToAccount(deposits.privateKey)
    const fee = 10n ** 12n
    const raw = await account.signTransaction({
      chainId: client.chain.id,
      nonce: 0,
      to: account.address,
      gas: 21_000n,
      maxFeePerGas: fee,
      maxPriorityFeePerGas: fee,
      type: 'eip1559',
    })
    await client.sendRawTransaction({ serializedTransaction: raw })
    await client.mine({ blocks: 1 })
    await client.setAutomine(true)
    await meanwhile()
    await client.mine({ blocks: FINAL_BLOCKS })
    return record
  }

  it('is rejected as never carried out, and carried out when it is sent again', async () => {
    const body = await depositBody(stage.world, owner)
    const { actionHash } = await displace(body)
    // While another process may have the key, nothing more is sent until an operator restarts.
    await becomes(actionHash, 'rejected')
    const ping = await deposits.bus.ask(askPing('deposit-submitter'), new Uint8Array(), PING_MS)
    const notReady = { ready: false, detail: 'a foreign transaction used the key' }
    expect(decodePingAnswer(ping)).to.include(notReady)
    expect(await wallet()).to.equal(PURSE)
    await deposits.stop()
    const { dataDir, privateKey } = deposits
    deposits = await startDeposits(stage, { dataDir, privateKey })
    expect(recordIn(await deposits.ask(body)).status).to.equal('confirmed')
    expect(await wallet()).to.equal(PURSE - TEN)
  })

  it('is unknown when its action was carried out elsewhere, and never sent again (TRA-011)', async () => {
    const { world } = stage
    const body = await depositBody(world, owner)
    const signed = { action: actionOf(body), signature: body.signature }
    const elsewhere = () => perform(world, actionsCall(world, [signed]))
    const { actionHash } = await displace(body, elsewhere)
    await becomes(actionHash, 'unknown')
    const record = recordIn(await deposits.lookUp(actionHash))
    expect(record.error).to.include('nonce of the action')
    expect(await wallet()).to.equal(PURSE - TEN)
  })

  function actionOf({ action }: SentRequest): Action {
    const text = (name: string): string => action[name] ?? ''
    return {
      subaccountId: BigInt(text('subaccount_id')),
      nonce: BigInt(text('nonce')),
      module: text('module') as Address,
      data: text('data') as Hex,
      expiry: BigInt(text('expiry')),
      owner: text('owner') as Address,
      signer: text('signer') as Address,
    }
  }
})
