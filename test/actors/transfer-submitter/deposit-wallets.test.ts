import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../../core/action.js'
import { balanceOf, testKey, type Trader } from '../../support/devnet-world.js'
import { compileWallets, delegate, deployWallet } from '../../support/test-wallets.js'
import { depositBody, signPermit, TEN } from './requests.js'
import {
  approve,
  freshOwner,
  mint,
  recordIn,
  refusalIn,
  startDeposits,
  transferStage,
  type TestSubmitter,
  type TransferStage,
} from './stage.js'

describe('deposits of contract wallets', function () {
  let stage: TransferStage
  let deposits: TestSubmitter
  let wallets: Awaited<ReturnType<typeof compileWallets>>

  before(async () => {
    ;[stage, wallets] = await Promise.all([transferStage(), compileWallets()])
    deposits = await startDeposits(stage)
  })
  after(() => deposits.end())

  /** A wallet contract for which a fresh key speaks, with USDC that the deposit module may take. */
  async function walletOwner(): Promise<Trader> {
    const { world } = stage
    const { account, address: key } = await freshOwner(stage)
    const address = await deployWallet(world.client, wallets.KeyWallet, key)
    await fund(address)
    return { account, address, subaccountId: 0n }
  }

  async function fund(address: Address): Promise<void> {
    const { world } = stage
    await world.client.setBalance({ address, value: 10n ** 18n })
    await mint(world, world.at.usdc, address, TEN)
    await approve(stage, address, TEN)
  }

  it('count when the wallet says so, and the account is its own', async () => {
    const owner = await walletOwner()
    const body = await depositBody(stage.world, owner)
    const record = recordIn(await deposits.ask(body))
    expect(record).to.include({ status: 'confirmed', owner: owner.address })
    const cash = await balanceOf(stage.world, record.subaccountId ?? 0n, stage.world.at.cash_asset)
    expect(cash).to.equal(TEN * 10n ** 12n)
  })

  it('do not count by the word of another key', async () => {
    const owner = await walletOwner()
    const body = await depositBody(stage.world, owner, {}, { signedBy: stage.world.bob.account })
    expect(refusalIn(await deposits.ask(body)).status).to.equal(401)
  })

  it('bring no permit that this token would take, and are told so', async () => {
    const owner = await walletOwner()
    await approve(stage, owner.address, 0n)
    const permit = await signPermit(stage.world, owner, TEN)
    const refusal = refusalIn(await deposits.ask(await depositBody(stage.world, owner, { permit })))
    expect(refusal).to.include({ status: 400, code: 'permit_refused' })
  })

  it('of a key that delegates to code count when that code accepts its signature', async () => {
    const { world } = stage
    const rows = [
      ['SelfKeyWallet', 'confirmed', 60_001],
      ['DeafWallet', 401, 60_002],
    ] as const
    for (const [name, outcome, key] of rows) {
      const code = await deployWallet(world.client, wallets[name])
      const owner = await ownerOfKey(key)
      await delegate(world.client, testKey(key), code)
      const answer = await deposits.ask(await depositBody(world, owner))
      const is = answer.kind === 'record' ? answer.record.status : answer.refusal.status
      expect(is, name).to.equal(outcome)
    }
  })

  async function ownerOfKey(key: number): Promise<Trader> {
    const account = privateKeyToAccount(testKey(key))
    const address = account.address.toLowerCase() as Address
    await fund(address)
    return { account, address, subaccountId: 0n }
  }
})
