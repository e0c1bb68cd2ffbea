import { expect } from 'chai'
import { encodeErrorResult, RpcRequestError } from 'viem'
import { errorsAbi, revertName, revertOf, rpcErrorOf } from '../../../chain/abi/errors.js'

const answered = (error: { code: number; message: string; data?: unknown }): Error =>
  new Error('wrapped', { cause: new RpcRequestError({ body: {}, error, url: 'http://node' }) })

describe('revert name', () => {
  it('names errors of the contracts, of tokens and of the language', () => {
    expect(revertName('0x02c7ec25')).to.equal('TM_FeeTooHigh')
    const token = encodeErrorResult({
      abi: errorsAbi,
      errorName: 'ERC721NonexistentToken',
      args: [7n],
    })
    expect(revertName(token)).to.equal('ERC721NonexistentToken')
    const panic = encodeErrorResult({ abi: errorsAbi, errorName: 'Panic', args: [0x12n] })
    expect(revertName(panic)).to.equal('Panic(0x12)')
    const text = encodeErrorResult({ abi: errorsAbi, errorName: 'Error', args: ['too early'] })
    expect(revertName(text)).to.equal('Error: too early')
  })

  it('says so when there is no data or the data is of no known error', () => {
    expect(revertName('0x')).to.equal('empty revert')
    expect(revertName('0xdeadbeef01')).to.equal('unknown revert 0xdeadbeef')
    expect(revertName('0x02c7')).to.equal('unknown revert 0x02c7')
  })

  it('finds the bytes wherever the node put them', () => {
    const data = '0x02c7ec25'
    const message = 'execution reverted'
    expect(revertOf(answered({ code: 3, message, data }))?.name).to.equal('TM_FeeTooHigh')
    expect(revertOf(answered({ code: -32015, message, data: { data } }))?.name).to.equal(
      'TM_FeeTooHigh',
    )
    expect(revertOf(answered({ code: -32000, message }))?.name).to.equal('empty revert')
    expect(revertOf(answered({ code: -32003, message: 'Out of gas' }))?.name).to.equal('out of gas')
  })

  it('takes no trouble on the way for a revert', () => {
    expect(revertOf(new Error('execution reverted'))).to.equal(undefined)
    expect(revertOf(answered({ code: -32005, message: 'rate limited' }))).to.equal(undefined)
    expect(revertOf(undefined)).to.equal(undefined)
  })

  it('takes a node that is asked too much for one without an answer', () => {
    for (const [code, message] of [
      [-32005, 'daily request count exceeded, request rate limited'],
      [-32007, '50/second request limit reached'],
      [429, 'Your app has exceeded its compute units per second capacity'],
      [-32000, '429 Too Many Requests'],
    ] as const)
      expect(rpcErrorOf(answered({ code, message })), message).to.equal(undefined)
    const reverted = answered({ code: 3, message: 'execution reverted: rate limit', data: '0x' })
    expect(revertOf(reverted)).not.to.equal(undefined)
    for (const [code, message] of [
      [-32000, 'header not found'],
      [-32005, 'query returned more than 10000 results'],
      [-32005, 'limit exceeded'],
    ] as const)
      expect(rpcErrorOf(answered({ code, message }))?.code, message).to.equal(code)
  })
})
