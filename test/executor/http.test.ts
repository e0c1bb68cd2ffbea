import { expect } from 'chai'
import { InvariantBroken } from '../../core/assert.js'
import { priceE18, quoteE18 } from '../../core/money.js'
import { createApp } from '../../executor/app.js'
import type { MatchAdmission, Admit } from '../../executor/admit.js'
import type { Execute, ExecuteAnswer, Executions } from '../../executor/execute.js'
import type { Objection } from '../../executor/payload.js'
import type { FinalOutcome, OutcomeReversal } from '../../executor/reversals.js'
import type { StandingFaults } from '../../executor/watch-faults.js'
import { createLog } from '../../runtime/process/log.js'
import { readBody } from '../support/answer-body.js'
import { serveApp, type ServedApp } from '../support/serve-app.js'
import { aBody, ASSET, MODULE, type Body } from './execute-body.js'

const SECRET = 'not a secret'
const CALLER = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' }
const KNOWN_KEY = 'cNGN-USDC:3'

/** A settlement that was filled in block 7 and has reverted in block 9. */
const aReversal = (no: number, now: FinalOutcome = REVERTED): OutcomeReversal => ({
  no,
  settlementId: 'cNGN-USDC:3',
  now,
  before: { status: 'success', hash: '0xaa', blockNumber: 7n, blockHash: '0xbb' },
})
const REVERTED: FinalOutcome = {
  status: 'reverted',
  revert: 'TM_X',
  txHash: '0xaa',
  blockNumber: 9n,
}

describe('POST /execute', () => {
  let served: ServedApp
  let answer: ExecuteAnswer | Error
  let fatal: unknown
  let asked: Parameters<Execute>[]
  let trouble: string | undefined
  let standing: StandingFaults | undefined
  let objections: Objection[]
  let admission: MatchAdmission
  let outcome: FinalOutcome | undefined

  before(async () => {
    const execute: Execute = (...args) => {
      asked.push(args)
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    }
    const isKnown = (key: string) => key === KNOWN_KEY
    const log = createLog('executor', 'silent')
    const onFatal = (error: unknown) => (fatal = error)
    const idOf: Executions['idOf'] = (_, key = 'fingerprint') => key
    const checkTerms = () => objections
    const admit: Admit = () => Promise.resolve(admission)
    const readReversals = (after: number, limit: number) =>
      Promise.resolve([aReversal(after + limit, outcome)])
    const faults = { standing: () => standing }
    const acceptForeign = () => Promise.reject(new Error('nothing is frozen'))
    const deps = {
      acceptForeign,
      execute,
      isKnown,
      idOf,
      admit,
      readReversals,
      checkTerms,
      trouble: () => trouble,
      faults,
    }
    const app = createApp({
      ...deps,
      door: { secret: SECRET, hosts: [] },
      log,
      onFatal,
    })
    served = await serveApp(app)
  })
  beforeEach(() => {
    asked = []
    trouble = undefined
    standing = new Map()
    objections = []
    admission = { kind: 'admitted' }
    outcome = undefined
    fatal = undefined
    answer = { kind: 'refused', revert: 'TM_FeeTooHigh' }
  })
  after(() => served.stop())

  async function post(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${served.url}/execute`, {
      method: 'POST',
      headers: { ...CALLER, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, body: await readBody(response) }
  }

  it('reads the payload: numbers as integers, addresses in lower case (SET-052)', async () => {
    const body = aBody()
    body.module_address = MODULE.toUpperCase().replace('0X', '0x')
    await post(body, { 'idempotency-key': 'cNGN-USDC:17' })
    const [payload, key] = asked[0] ?? []
    expect(key).to.equal('cNGN-USDC:17')
    expect(payload?.makerOrderIds).to.deep.equal(['maker'])
    expect(payload?.match.actions.map((a) => a.subaccountId)).to.deep.equal([7n, 8n])
    expect(payload?.match.orderData).to.deep.equal({
      takerAccount: 7n,
      takerFee: 1n,
      fillDetails: [{ filledAccount: 8n, amountFilled: 5n, price: 3n, fee: 0n }],
      managerData: '0x',
    })
  })

  it('answers 400 to integers that the chain cannot have', async () => {
    const body = aBody()
    body.order_data.fill_details[0]!.amount_filled = String(2n ** 255n)
    expect((await post(body)).body.error).to.include('must fit a word of the chain')
    const other = aBody()
    other.order_data.taker_fee = String(2n ** 256n)
    expect((await post(other)).body.error).to.include('must fit a word of the chain')
    expect(asked).to.deep.equal([])
  })

  const refusals: Record<string, { spoil: (body: Body) => void; error: string; field: string }> = {
    'a missing field': {
      spoil: (b) => delete b.market,
      error: 'Invalid input: expected string, received undefined',
      field: 'market',
    },
    'a price that is not an integer': {
      spoil: (b) => (b.order_data.fill_details[0]!.price = '0.5'),
      error: 'must be a base-10 integer',
      field: 'order_data.fill_details.0.price',
    },
    'an amount of nothing': {
      spoil: (b) => (b.order_data.fill_details[0]!.amount_filled = '0'),
      error: 'must be greater than zero',
      field: 'order_data.fill_details.0.amount_filled',
    },
    'an address that is none': {
      spoil: (b) => (b.actions[0]!.owner = '0x12'),
      error: 'must be 0x and 40 hex digits',
      field: 'actions.0.owner',
    },
    'half a byte of signature': {
      spoil: (b) => (b.signatures = ['0x1', '0x12']),
      error: 'must be 0x and pairs of hex digits',
      field: 'signatures.0',
    },
    'a signature too few': {
      spoil: (b) => (b.signatures = ['0x12']),
      error: 'actions.length must equal signatures.length',
      field: 'signatures',
    },
    'another taker account': {
      spoil: (b) => (b.order_data.taker_account = '8'),
      error: 'actions[0].subaccount_id must equal order_data.taker_account',
      field: 'actions.0.subaccount_id',
    },
    'an action of another module': {
      spoil: (b) => (b.actions[1]!.module = ASSET),
      error: 'every action.module must equal module_address',
      field: 'actions',
    },
    'an action on another asset': {
      spoil: (b) => (b.asset_address = MODULE),
      error: 'every action.data must be trade data of asset_address',
      field: 'actions',
    },
    'a fill too many': {
      spoil: (b) => b.order_data.fill_details.push(b.order_data.fill_details[0]!),
      error: 'order_data.fill_details needs one entry for each maker',
      field: 'order_data.fill_details',
    },
    'a fill of another account': {
      spoil: (b) => (b.order_data.fill_details[0]!.filled_account = '9'),
      error: 'order_data.fill_details[i].filled_account must equal actions[i + 1].subaccount_id',
      field: 'order_data.fill_details',
    },
    'maker ids that name others': {
      spoil: (b) => (b.maker_order_ids = ['another']),
      error: 'maker_order_ids must name each maker, maker_order_id first',
      field: 'maker_order_ids',
    },
  }

  for (const [name, { spoil, error, field }] of Object.entries(refusals)) {
    it(`answers 400 to ${name}, with details (SET-050, SET-051)`, async () => {
      const body = aBody()
      spoil(body)
      const refused = await post(body)
      expect(refused.status).to.equal(400)
      expect(refused.body.error).to.equal(`invalid payload: ${field}: ${error}`)
      expect(refused.body.details).to.deep.include({ field, message: error })
      expect(asked).to.deep.equal([])
    })
  }

  it('answers 400 to terms against the rules, naming the field, unless the key is known', async () => {
    const details = [{ field: 'order_data.taker_fee', message: 'must be 7' }]
    objections = details
    expect(await post(aBody())).to.deep.equal({
      status: 400,
      body: { error: 'invalid payload: order_data.taker_fee: must be 7', details },
    })
    expect(asked).to.deep.equal([])
    expect((await post(aBody(), { 'idempotency-key': KNOWN_KEY })).status).to.equal(422)
    objections = details.map((each) => ({ ...each, guilty: 'venue' }))
    expect((await post(aBody())).body).to.deep.include({ details, guilty: 'venue' })
  })

  it('answers 400 to what is not a JSON object and 413 to too much of it', async () => {
    expect(await post('{')).to.deep.equal({ status: 400, body: { error: 'invalid JSON body' } })
    expect((await post('[]')).status).to.equal(400)
    const long = await post('"'.padEnd(300_000, 'x'))
    expect(long).to.deep.equal({
      status: 413,
      body: { error: 'request body exceeds 262144 bytes' },
    })
  })

  it('says nothing about a payload it cannot read under a key that may have been sent', async () => {
    const body = aBody()
    delete body.market
    const refused = await post(body, { 'idempotency-key': KNOWN_KEY })
    expect(refused.status).to.equal(400)
    expect(refused.body.details).to.deep.equal([
      { field: 'Idempotency-Key', message: 'was used for another match' },
    ])
  })

  it('answers 400 to a key that could not be logged', async () => {
    const refused = await post(aBody(), { 'idempotency-key': 'x'.repeat(201) })
    expect(refused).to.deep.equal({
      status: 400,
      body: { error: 'Idempotency-Key must be 1 to 200 printable characters' },
    })
  })

  it('answers 401 without the secret, before it looks at the body (SET-048)', async () => {
    for (const authorization of ['', 'Bearer wrong', SECRET]) {
      const refused = await post('{', { authorization })
      expect(refused).to.deep.equal({
        status: 401,
        body: { error: 'the shared secret is required' },
      })
    }
    expect(asked).to.deep.equal([])
  })

  it('tells reversals above a number to a caller with the secret', async () => {
    const read = async (query: string, authorization = `Bearer ${SECRET}`) => {
      const response = await fetch(`${served.url}/reversals${query}`, {
        headers: { authorization },
      })
      return [response.status, await readBody(response)]
    }
    expect(await read('?after=4&limit=3')).to.deep.equal([
      200,
      {
        reversals: [
          {
            no: 7,
            settlement_id: 'cNGN-USDC:3',
            before: { status: 'success', tx_hash: '0xaa', block_number: '7' },
            now: { status: 'reverted', revert: 'TM_X', tx_hash: '0xaa', block_number: '9' },
          },
        ],
      },
    ])
    expect(await read('')).to.have.nested.property('[1].reversals[0].no', 100)
    for (const query of ['?after=-1', '?after=x', '?after=1&after=2', '?limit=0', '?limit=101']) {
      expect((await read(query))[0], query).to.equal(400)
    }
    expect((await read('', 'Bearer wrong'))[0]).to.equal(401)
    const nowOf = async (now: FinalOutcome) => {
      outcome = now
      const [, body] = await read('?after=999999999999999&limit=1')
      return (body as { reversals: { now: unknown }[] }).reversals[0]?.now
    }
    expect(await nowOf({ status: 'success', txHash: '0xbb', blockNumber: 9n })).to.deep.equal({
      status: 'success',
      tx_hash: '0xbb',
      block_number: '9',
    })
    expect(await nowOf({ status: 'reverted', revert: 'not_carried_out' })).to.deep.equal({
      status: 'reverted',
      revert: 'NotCarriedOut',
    })
    for (const query of ['?after=01', '?after=1000000000000000', '?limit=1x', '?limit=x1']) {
      expect((await read(query))[0], query).to.equal(400)
    }
  })

  it('answers 404 and 405 as JSON', async () => {
    const nowhere = await fetch(`${served.url}/nowhere`)
    expect([nowhere.status, await readBody(nowhere)]).to.deep.equal([404, { error: 'not found' }])
    expect(nowhere.headers.get('x-request-id')).to.match(/^[0-9a-f-]{36}$/)
    const wrong = await fetch(`${served.url}/execute`)
    expect(wrong.headers.get('allow')).to.equal('POST')
    expect([wrong.status, await readBody(wrong)]).to.deep.equal([
      405,
      { error: 'method not allowed' },
    ])
  })

  it('answers 422 with the revert when the simulation refused (SET-058)', async () => {
    expect(await post(aBody())).to.deep.equal({
      status: 422,
      body: { error: 'the match would revert: TM_FeeTooHigh', revert: 'TM_FeeTooHigh' },
    })
  })

  it('answers with the receipt of a mined settlement, or with what it waits for (SET-061)', async () => {
    const mined = { hash: '0xaa', blockNumber: 7n, blockHash: '0xbb' } as const
    const receipt = { tx_hash: '0xaa', block_number: '7' }
    const success = { accepted: true, receipt_status: 'success', ...receipt }
    const failed = { accepted: false, receipt_status: 'reverted', ...receipt }
    const rows: readonly (readonly [ExecuteAnswer, status: number, body: object])[] = [
      [{ kind: 'mined', transaction: { status: 'success', ...mined } }, 200, success],
      [
        { kind: 'mined', transaction: { status: 'success', ...mined }, markPrice: priceE18(5n) },
        ...([200, { ...success, mark_price: '5' }] as const),
      ],
      [
        { kind: 'mined', transaction: { status: 'success', ...mined }, gasCost: quoteE18(7n) },
        ...([200, { ...success, gas_cost: '7' }] as const),
      ],
      [
        { kind: 'mined', transaction: { status: 'reverted', ...mined }, guilty: 'taker' },
        ...([200, { ...failed, revert: 'UnknownRevert', guilty: 'taker' }] as const),
      ],
      [
        { kind: 'mined', transaction: { status: 'reverted', revert: 'Panic(0x11)', ...mined } },
        ...([200, { ...failed, revert: 'Panic', detail: { code: '0x11' } }] as const),
      ],
      [
        { kind: 'timeout', hash: '0xaa' },
        ...([200, { accepted: true, tx_hash: '0xaa', receipt_status: 'timeout' }] as const),
      ],
      [
        { kind: 'unknown', hash: '0xaa' },
        502,
        { error: 'outcome unknown, ask again with the same Idempotency-Key', tx_hash: '0xaa' },
      ],
      [{ kind: 'unavailable', why: 'frozen' }, 503, { error: 'frozen' }],
      [
        { kind: 'refused', revert: 'TM_FeeTooHigh', guilty: 'maker' },
        422,
        {
          error: 'the match would revert: TM_FeeTooHigh',
          revert: 'TM_FeeTooHigh',
          guilty: 'maker',
        },
      ],
    ]
    for (const [said, status, body] of rows) {
      answer = said
      expect(await post(aBody()), said.kind).to.deep.equal({ status, body })
    }
    expect(asked.map(([, key]) => key)).to.deep.equal(rows.map(() => undefined))
  })

  it('answers 500 without a word about the reason, and ends the process only when it must', async () => {
    answer = new Error('the database is on fire')
    expect(await post(aBody())).to.deep.equal({ status: 500, body: { error: 'internal error' } })
    expect(fatal).to.equal(undefined)
    answer = new InvariantBroken('two settlements, one nonce')
    expect((await post(aBody())).status).to.equal(500)
    expect(fatal).to.equal(answer)
  })

  it('tells which markets the chain refuses, and that it does not know', async () => {
    const faults = async (authorization = `Bearer ${SECRET}`) => {
      const response = await fetch(`${served.url}/faults`, { headers: { authorization } })
      return [response.status, await readBody(response)]
    }
    expect(await faults()).to.deep.equal([200, { faults: {} }])
    standing = new Map([['cNGN-USDC', 'BM_AdjustmentsPaused']])
    const paused = { faults: { 'cNGN-USDC': 'BM_AdjustmentsPaused' } }
    expect(await faults()).to.deep.equal([200, paused])
    standing = undefined
    expect(await faults()).to.deep.equal([503, { error: 'the chain does not answer' }])
    expect((await faults('Bearer other'))[0]).to.equal(401)
  })

  it('answers /readyz with 503 and the reason while nothing could be settled', async () => {
    const readyz = async () => {
      const response = await fetch(`${served.url}/readyz`)
      return [response.status, await readBody(response)]
    }
    expect(await readyz()).to.deep.equal([200, { status: 'ready' }])
    trouble = 'the chain does not answer'
    expect(await readyz()).to.deep.equal([503, { error: 'the chain does not answer' }])
    trouble = 'a foreign transaction used the key'
    expect(await readyz()).to.deep.equal([503, { error: 'a foreign transaction used the key' }])
  })
})
