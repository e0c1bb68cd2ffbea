import { expect } from 'chai'
import {
  createTransferClient,
  OutcomeUnknown,
  VenueRefused,
  type NewDeposit,
  type NewWithdrawal,
} from '../../client/index.js'
import { aDepositBody, aWithdrawalBody } from '../support/transfer-bodies.js'
import { aPreparedServer, type PreparedServer } from './prepared-server.js'

const HASH = `0x${'ac'.repeat(32)}`
const receipt = { action_hash: HASH, status: 'confirmed', accepted: true }
const unknown = { status: 502, body: { error: 'could not confirm', code: 'deposit_unknown' } }
const paused = { status: 503, body: { error: 'paused', code: 'deposits_paused_gas_budget' } }
const ok = (body: object) => ({ status: 200, body })
const deposit: NewDeposit = aDepositBody()
const withdrawal: NewWithdrawal = aWithdrawalBody()

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('transfer client', () => {
  let server: PreparedServer
  const venue = () => createTransferClient(server.baseUrl, { resends: 2 })
  const lines = () => server.asked.map(({ line }) => line)

  beforeEach(async () => {
    server = await aPreparedServer()
  })
  afterEach(() => server.close())

  it('asks each endpoint in its own words', async () => {
    server.answers.push(...Array.from({ length: 4 }, () => ok(receipt)))
    expect(await venue().deposit(deposit)).to.deep.equal(receipt)
    await venue().withdraw(withdrawal)
    await venue().depositRecord(HASH)
    await venue().withdrawalRecord(HASH)
    expect(lines()).to.deep.equal([
      'POST /v1/deposits',
      'POST /v1/withdrawals',
      `GET /v1/deposits/${HASH}`,
      `GET /v1/withdrawals/${HASH}`,
    ])
    expect(JSON.parse(server.asked[0]?.body ?? '')).to.deep.equal(deposit)
  })

  it('sends the same body again while the outcome is unknown', async () => {
    server.answers.push(unknown, 'drop', ok(receipt))
    expect(await venue().deposit(deposit)).to.deep.equal(receipt)
    expect(new Set(server.asked.map(({ body }) => body)).size).to.equal(1)
    expect(server.asked).to.have.length(3)
  })

  it('gives up after as many resends as it was told', async () => {
    server.answers.push(unknown, unknown, unknown, ok(receipt))
    expect(await failure(venue().withdraw(withdrawal))).to.be.instanceOf(OutcomeUnknown)
    expect(server.asked).to.have.length(3)
  })

  it('takes a refusal as one and does not send again', async () => {
    for (const status of [400, 401, 422, 429]) {
      server.answers.push({ status, body: { error: 'no', code: 'a_code', revert: 'Name' } })
      const error = (await failure(venue().deposit(deposit))) as VenueRefused
      expect(error).to.be.instanceOf(VenueRefused)
      expect(error).to.include({ status, code: 'a_code', message: 'no' })
      expect(error.body.revert).to.equal('Name')
    }
    expect(server.asked).to.have.length(4)
  })

  it('takes 503 as a refusal, but not after an earlier try that stayed open', async () => {
    server.answers.push(paused)
    expect(await failure(venue().deposit(deposit))).to.be.instanceOf(VenueRefused)
    server.answers.push('drop', paused, paused)
    expect(await failure(venue().deposit(deposit))).to.be.instanceOf(OutcomeUnknown)
  })

  it('looks until a transfer is settled, through answers that say nothing', async () => {
    const states = ['pending', 'unknown', 'submitted', 'confirmed'].map((status) =>
      ok({ ...receipt, status }),
    )
    server.answers.push(paused, ...states)
    const record = await venue().settledDeposit(HASH, { everyMs: 1 })
    expect(record.status).to.equal('confirmed')
    expect(server.asked).to.have.length(5)
    for (const status of ['reverted', 'rejected']) {
      server.answers.push(ok({ ...receipt, status }))
      expect((await venue().settledWithdrawal(HASH)).status).to.equal(status)
    }
  })

  it('says that it is not known when a transfer does not settle in time', async () => {
    server.answers.push(ok({ ...receipt, status: 'submitted' }))
    const error = await failure(venue().settledDeposit(HASH, { withinMs: 0, everyMs: 1 }))
    expect(error).to.be.instanceOf(OutcomeUnknown).with.property('message', 'still submitted')
    server.answers.push({ status: 404, body: { error: 'none', code: 'deposit_not_found' } })
    expect(await failure(venue().settledDeposit(HASH))).to.be.instanceOf(VenueRefused)
  })
})
