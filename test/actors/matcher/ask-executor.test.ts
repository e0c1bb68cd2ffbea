import { expect } from 'chai'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createExecutors } from '../../../actors/matcher/executors.js'
import { askExecutorAt, executeRequest, readAnswer } from '../../../actors/matcher/ask-executor.js'
import { askFaultsAt } from '../../../actors/matcher/faults.js'
import { askReversalsAt } from '../../../actors/matcher/reversals.js'
import { InvariantBroken } from '../../../core/assert.js'
import { actionJsonOf } from '../../../core/entry/signed-action.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import type { ExecuteRequest } from '../../../interface/execute.js'
import { aFill, aFuture, aMarket } from '../../support/builders.js'
import { matcherOrder } from '../../support/matching.js'

const never = new AbortController().signal
const hash = `0x${'a'.repeat(64)}`
const field = (name: string) => ({ details: [{ field: name, message: 'bad' }] })

describe('the payload for the executor', () => {
  const maker = matcherOrder({
    orderId: 'maker-1',
    side: 'sell',
    subaccountId: 2n,
    signature: '0x5a',
  })
  const taker = matcherOrder({ orderId: 'taker-1', side: 'buy', signature: '0x5b' })
  const filled = (market = aMarket(), amount = 3n * E18) => {
    const match = aFill({ amount: amountE18(amount) })
    const { order_data } = executeRequest(market, match, maker, taker)
    return order_data.fill_details[0]?.amount_filled
  }

  it('has the amount as the chain has it, by the market’s amount scale', () => {
    expect(filled(aMarket())).to.equal('3000000000000000000')
    expect(filled(aFuture({ amountScale: 10n ** 15n }))).to.equal('3000000000000000')
  })

  it('has the match with its price and fee, and of each order what its trader signed', () => {
    const market = aMarket()
    const { actions, ...payload } = executeRequest(market, aFill(), maker, taker)
    expect(payload).to.deep.equal({
      market: market.market,
      asset_address: market.assetAddress,
      module_address: market.tradeModuleAddress,
      maker_order_id: 'maker-1',
      taker_order_id: 'taker-1',
      maker_order_ids: ['maker-1'],
      signatures: [taker.signature, maker.signature],
      order_data: {
        taker_account: '1',
        taker_fee: '1625000000000000',
        manager_data: '0x',
        fill_details: [
          {
            filled_account: '2',
            amount_filled: '1000000000000000000000',
            price: '650000000000000',
            fee: '0',
          },
        ],
      },
    })
    expect(actions).to.deep.equal([actionJsonOf(market, taker), actionJsonOf(market, maker)])
    expect(actions.map(({ subaccount_id }) => subaccount_id)).to.deep.equal(['1', '2'])
  })

  it('is of the two orders of the match alone', () => {
    const market = aMarket()
    const match = aFill()
    const other = matcherOrder({ orderId: 'other', side: 'buy' })
    expect(() => executeRequest(market, match, other, taker)).to.throw('another maker')
    expect(() => executeRequest(market, match, maker, other)).to.throw('another taker')
  })

  it('is refused for an amount that the chain cannot have, rather than rounded', () => {
    expect(() => filled(aFuture({ amountScale: 10n ** 15n }), E18 + 1n)).to.throw(
      'is not an amount of',
    )
  })
})

describe('answers of the executor', () => {
  const cases: [name: string, status: number, body: unknown, answer: Record<string, unknown>][] = [
    [
      'a receipt that succeeded',
      200,
      { accepted: true, tx_hash: hash, receipt_status: 'success', block_number: '7' },
      { kind: 'success', txHash: hash, blockNumber: 7n },
    ],
    [
      'a receipt that reverted',
      200,
      {
        accepted: false,
        tx_hash: hash,
        receipt_status: 'reverted',
        block_number: '7',
        revert: 'TM_FeeTooHigh',
      },
      { kind: 'reverted', revert: 'TM_FeeTooHigh', guilty: 'unclear', txHash: hash },
    ],
    [
      'a receipt that reverted for what the executor blames on the taker',
      200,
      {
        accepted: false,
        tx_hash: hash,
        receipt_status: 'reverted',
        block_number: '7',
        guilty: 'taker',
      },
      { kind: 'reverted', revert: 'UnknownRevert', guilty: 'taker', txHash: hash },
    ],
    [
      'a receipt without a block',
      200,
      { accepted: true, tx_hash: hash, receipt_status: 'success' },
      { kind: 'undecided' },
    ],
    [
      'a time-out that names a block',
      200,
      { accepted: true, tx_hash: hash, receipt_status: 'timeout', block_number: '7' },
      { kind: 'undecided' },
    ],
    [
      'no receipt yet',
      200,
      { accepted: true, tx_hash: hash, receipt_status: 'timeout' },
      { kind: 'undecided' },
    ],
    [
      'a match that the chain booked at a mark',
      200,
      {
        accepted: true,
        tx_hash: hash,
        receipt_status: 'success',
        block_number: '7',
        mark_price: '1500000000000000000000',
      },
      { kind: 'success', blockNumber: 7n, markPrice: priceE18(1_500n * E18) },
    ],
    [
      'a match with what its gas cost',
      200,
      {
        accepted: true,
        tx_hash: hash,
        receipt_status: 'success',
        block_number: '7',
        gas_cost: '750000000000000',
      },
      { kind: 'success', blockNumber: 7n, gasCost: 750_000_000_000_000n },
    ],
    [
      'a reverted match with what its gas cost',
      200,
      {
        accepted: false,
        tx_hash: hash,
        receipt_status: 'reverted',
        block_number: '7',
        revert: 'OV_InvalidSignature',
        gas_cost: '9',
      },
      { kind: 'reverted', revert: 'OV_InvalidSignature', gasCost: 9n },
    ],
    [
      'a refused simulation',
      422,
      { error: 'would revert', revert: 'WERC_CannotBeNegative', guilty: 'maker' },
      { kind: 'reverted', revert: 'WERC_CannotBeNegative', guilty: 'maker' },
    ],
    [
      'a refused simulation of what was spent elsewhere',
      422,
      { error: 'would revert', revert: 'WERC_CannotBeNegative', spent_elsewhere: true },
      { kind: 'reverted', guilty: 'unclear', spentElsewhere: true },
    ],
    [
      'a refused simulation without a named error',
      422,
      { error: 'would revert', revert: 'Panic', detail: { code: '0x12' } },
      { kind: 'reverted', revert: 'Panic', guilty: 'unclear' },
    ],
    [
      'a refused simulation that names no revert',
      422,
      { error: 'would revert' },
      { kind: 'reverted', revert: 'UnknownRevert' },
    ],
    [
      'a payload that breaks several rules',
      400,
      {
        error: 'invalid payload',
        details: [
          { field: 'actions', message: 'bad' },
          { field: 'Idempotency-Key', message: 'used' },
        ],
      },
      { kind: 'conflict', why: 'invalid payload' },
    ],
    [
      'a fault of the executor with details',
      500,
      { error: 'internal error', ...field('actions') },
      { kind: 'undecided', why: '500 internal error' },
    ],
    ['a request without details', 400, { error: 'bad', details: [] }, { kind: 'undecided' }],
    [
      'a payload that breaks a rule',
      400,
      { error: 'invalid payload', ...field('actions') },
      { kind: 'malformed', why: 'invalid payload', guilty: 'both' },
    ],
    [
      'a payload of another market than the executor knows',
      400,
      { error: 'invalid payload', guilty: 'venue', ...field('module_address') },
      { kind: 'malformed', why: 'invalid payload', guilty: 'venue' },
    ],
    [
      'a key that belongs to another call',
      400,
      { error: 'used', ...field('Idempotency-Key') },
      { kind: 'conflict', why: 'used' },
    ],
    [
      'a match that the venue does not settle',
      422,
      { error: 'not pending', guilty: 'venue', ...field('Idempotency-Key') },
      { kind: 'malformed', why: 'not pending', guilty: 'venue' },
    ],
    ['a request that broke off', 400, { error: 'invalid JSON body' }, { kind: 'undecided' }],
    ['a missing secret', 401, { error: 'secret' }, { kind: 'undecided' }],
    ['an unknown outcome', 502, { error: 'unknown', tx_hash: hash }, { kind: 'undecided' }],
    ['an executor that cannot', 503, { error: 'no gas' }, { kind: 'undecided' }],
    ['a fault of the executor', 500, { error: 'internal error' }, { kind: 'undecided' }],
  ]
  for (const [name, status, body, answer] of cases) {
    it(`${name} (${status}) is ${String(answer.kind)}`, () => {
      expect(readAnswer(status, body)).to.deep.include(answer)
    })
  }

  it('has a mark, a fault elsewhere and the transaction only where the executor names them', () => {
    const receipt = { accepted: true, tx_hash: hash, receipt_status: 'success', block_number: '7' }
    expect(readAnswer(200, receipt)).to.have.all.keys('kind', 'txHash', 'blockNumber')
    for (const spent_elsewhere of [undefined, false]) {
      const body = { error: 'would revert', revert: 'TM_X', spent_elsewhere }
      expect(readAnswer(422, body)).to.have.all.keys('kind', 'revert', 'guilty')
    }
  })

  it('a block number that is not a number is never read', () => {
    const body = { accepted: true, tx_hash: hash, receipt_status: 'success', block_number: '-1' }
    expect(readAnswer(200, body)).to.include({ kind: 'undecided' })
  })
})

describe('asking the executor', () => {
  const payload = { market: 'cNGN-USDC' } as ExecuteRequest

  async function asked(answer: RequestListener, timeoutMs = 10_000) {
    const server = createServer(answer)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const stopping = new AbortController()
    const url = `http://127.0.0.1:${port}`
    const executors = createExecutors([url])
    const ask = askExecutorAt({ executors, secret: 'word', timeoutMs })
    return {
      ask: (id: string) => ask(id, payload, stopping.signal),
      url,
      executors,
      abort: () => stopping.abort(),
      stop: () => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      },
    }
  }

  it('posts the payload under its key, and reads the answer, on a connection that is kept', async () => {
    const seen: [IncomingHttpHeaders, string][] = []
    const ports = new Set<number | undefined>()
    const executor = await asked((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        seen.push([request.headers, text])
        ports.add(request.socket.remotePort)
        const body = { accepted: true, tx_hash: hash, receipt_status: 'success', block_number: '7' }
        response.end(JSON.stringify(body))
      })
    })
    const success = { kind: 'success', txHash: hash, blockNumber: 7n }
    expect(await executor.ask('a:1')).to.deep.equal(success)
    expect(await executor.ask('a:2')).to.deep.equal(success)
    await executor.stop()
    expect(ports.size).to.equal(1)
    expect(seen.map(([, text]) => text)).to.deep.equal(Array(2).fill('{"market":"cNGN-USDC"}'))
    expect(seen[1]?.[0]).to.include({
      'idempotency-key': 'a:2',
      authorization: 'Bearer word',
      'content-type': 'application/json',
    })
  })

  it('leaves what one executor has not answered, and asks another once that one is in use', async () => {
    const silent = await asked(() => undefined)
    const other = await asked((_, response) => {
      const body = { accepted: true, tx_hash: hash, receipt_status: 'success', block_number: '7' }
      response.end(JSON.stringify(body))
    })
    const waiting = silent.ask('a:1')
    silent.executors.use(other.url)
    const { kind } = await waiting
    expect(kind).to.equal('undecided')
    expect((await silent.ask('a:1')).kind).to.equal('success')
    await silent.stop()
    await other.stop()
  })

  it('knows nothing when the answer does not come, breaks off or is not an answer', async () => {
    const silent = await asked(() => undefined, 50)
    expect((await silent.ask('a:1')).kind).to.equal('undecided')
    await silent.stop()
    expect((await silent.ask('a:2')).kind, 'no listener').to.equal('undecided')
    const broken = await asked((_, response) => {
      response.setHeader('content-length', 100)
      response.write('{"tx_', () => response.destroy())
    })
    expect((await broken.ask('a:1')).kind).to.equal('undecided')
    await broken.stop()
    const other = await asked((_, response) => response.end('<html>'))
    expect((await other.ask('a:1')).kind).to.equal('undecided')
    await other.stop()
  })

  it('does not take a defect for a missing answer', async () => {
    const defect = new TypeError('planted')
    const executors = createExecutors(['http://127.0.0.1:1'])
    const ask = askExecutorAt(
      { executors, secret: 'word', timeoutMs: 1 },
      () => () => Promise.reject(defect),
    )
    const failed = await ask('a:1', payload, never).catch((error: unknown) => error)
    expect(failed).to.equal(defect)
    const missing = { inOrder: () => [], use: () => undefined, onLeft: () => undefined }
    const reading = askReversalsAt({ executors: missing, secret: 'word', timeoutMs: 1 })(0, never)
    expect(await reading.catch((error: unknown) => error)).to.be.instanceOf(InvariantBroken)
    const faults = askFaultsAt({
      executors: { ...executors, inOrder: () => ['no address'] },
      secret: 'word',
      timeoutMs: 1,
    })
    expect(await faults(never).catch((error: unknown) => error)).to.be.instanceOf(TypeError)
  })

  it('lets go of every question when it is stopped, and takes no other', async () => {
    const arrived: string[] = []
    const executor = await asked(({ headers }) => {
      arrived.push(String(headers['idempotency-key']))
      if (arrived.length === 2) executor.abort()
    })
    const answers = await Promise.all([executor.ask('a:1'), executor.ask('a:2')])
    expect(answers.map(({ kind }) => kind)).to.deep.equal(['undecided', 'undecided'])
    expect((await executor.ask('a:3')).kind).to.equal('undecided')
    expect(arrived.length).to.equal(2)
    await executor.stop()
  })
})
