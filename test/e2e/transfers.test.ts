import { expect } from 'chai'
import { transferHash, VenueRefused } from '../../client/index.js'
import type { Devnet } from '../support/venue.js'
import { createVisitor } from './black-box/client.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTransferUser, type TransferUser } from './stage/transfer-user.js'

const E18 = 10n ** 18n
const USDC = 1_000_000n

const refusal = async (promise: Promise<unknown>): Promise<VenueRefused> => {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(VenueRefused)
  return error as VenueRefused
}

describe('money moves in and out', function () {
  let devnet: Devnet
  let dave: TransferUser
  /** The account that the first deposit opened. */
  let margin = ''

  before(async function () {
    ;({ devnet } = await sharedVenue())
    dave = createTransferUser(devnet, 3)
  })

  it('a deposit opens an account with exactly its money, and sent again stays that deposit', async () => {
    const before = await dave.wallet()
    const body = await dave.deposit('25', { permit: await dave.permit('40') })
    const { action_hash } = await dave.venue.deposit(body)
    expect(action_hash).to.equal(transferHash(dave.domain, body))
    const record = await dave.venue.settledDeposit(action_hash)
    expect(record).to.include({
      status: 'confirmed',
      owner: dave.address,
      amount_usdc: '25.000000',
      amount_units: '25000000',
      credited_cash_e18: `${25n * E18}`,
    })
    expect(record.permit_tx_hash).to.match(/^0x[0-9a-f]{64}$/)
    margin = record.subaccount_id ?? ''
    expect(await dave.ownerOf(margin)).to.equal(dave.address)
    expect(await dave.held(margin, devnet.cash_asset)).to.equal(25n * E18)
    expect(before - (await dave.wallet())).to.equal(25n * USDC)

    const again = await Promise.all([1, 2, 3, 4].map(() => dave.venue.deposit(body)))
    for (const answer of again) {
      expect(answer).to.include({ accepted: true, receipt_status: 'success' })
      expect(answer).to.include({ tx_hash: record.tx_hash, subaccount_id: margin })
    }
    expect(before - (await dave.wallet())).to.equal(25n * USDC)
  })

  it('a top-up uses what the first permit left, without another', async () => {
    const body = await dave.deposit('15', { subaccountId: margin })
    const { action_hash } = await dave.venue.deposit(body)
    const record = await dave.venue.settledDeposit(action_hash)
    expect(record).to.include({ status: 'confirmed', subaccount_id: margin })
    expect(record).not.to.have.property('permit_tx_hash')
    expect(await dave.held(margin, devnet.cash_asset)).to.equal(40n * E18)
    expect(await dave.allowance()).to.equal(0n)
  })

  it('a withdrawal pays the owner to the last unit, and sent again pays nothing more (TRA-036)', async () => {
    const asset = devnet.wrapped_usdc
    const wallet = await dave.wallet()
    const held = await dave.held(dave.spotAccount, asset)
    const body = await dave.withdrawal({ asset, amount: '4.000001' })
    const { action_hash } = await dave.venue.withdraw(body)
    const record = await dave.venue.settledWithdrawal(action_hash)
    expect(record).to.include({
      status: 'confirmed',
      asset_address: asset,
      amount: '4.000001',
      subaccount_id: dave.spotAccount,
    })
    const again = await dave.venue.withdraw(body)
    expect(again).to.include({ accepted: true, tx_hash: record.tx_hash })
    expect((await dave.wallet()) - wallet).to.equal(4_000_001n)
    const left = await dave.held(dave.spotAccount, asset)
    expect(held - left).to.equal(4_000_001n * 10n ** 12n)
  })

  it('more than the account holds is refused with the chain’s own name for it (TRA-040)', async () => {
    const body = await dave.withdrawal({ asset: devnet.wrapped_usdc, amount: '900000000000' })
    const refused = await refusal(dave.venue.withdraw(body))
    expect(refused.status).to.equal(422)
    expect(refused.body.revert).to.equal('WERC_CannotBeNegative')
  })

  it('another’s account, another’s signature and a wrong asset move nothing', async () => {
    const eve = createTransferUser(devnet, 2)
    const wallet = await eve.wallet()
    const into = await eve.deposit('10', { subaccountId: margin, permit: await eve.permit('10') })
    expect(await refusal(eve.venue.deposit(into))).to.include({
      status: 400,
      message: `subaccount_id ${margin} is not owned by action.owner`,
    })
    const mine = await eve.withdrawal({ asset: devnet.wrapped_usdc, amount: '1' })
    const stolen = { ...mine, action: { ...mine.action, subaccount_id: dave.spotAccount } }
    expect((await refusal(eve.venue.withdraw(stolen))).status).to.equal(401)
    const token = await eve.withdrawal({ asset: devnet.usdc, amount: '1' })
    expect(await refusal(eve.venue.withdraw(token))).to.include({
      status: 400,
      message: `asset ${devnet.usdc} is not withdrawable`,
    })
    expect(await eve.wallet()).to.equal(wallet)
  })

  it('a deposit without an allowance says what to do', async () => {
    const frank = createTransferUser(devnet, 5)
    const refused = await refusal(frank.venue.deposit(await frank.deposit('10')))
    expect(refused.status).to.equal(400)
    expect(refused.message).to.match(/approve it first or send a permit$/)
  })

  it('what was never sent is not found', async () => {
    const unknown = `0x${'00'.repeat(32)}`
    expect((await refusal(dave.venue.depositRecord(unknown))).status).to.equal(404)
    expect((await refusal(dave.venue.withdrawalRecord(unknown))).status).to.equal(404)
  })

  it('the health page shows the gas behind both', async () => {
    const { body } = await createVisitor(devnet).get('/v1/health')
    for (const each of [body.deposits, body.withdrawals]) {
      expect(each).to.have.property('status', 'open')
      expect(each).to.have.nested.property('gas.reserve_wei').that.matches(/^\d+$/)
      expect(each).to.have.nested.property('gas.balance_wei').that.matches(/^\d+$/)
    }
  })
})
