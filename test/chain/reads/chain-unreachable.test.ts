import { expect } from 'chai'
import { Writable } from 'node:stream'
import { HttpRequestError } from 'viem'
import { ChainUnreachable, createChainClient, orUnreachable } from '../../../chain/reads/client.js'
import { InvariantBroken } from '../../../core/assert.js'
import { createLog } from '../../../runtime/process/log.js'

describe('unreachable chain', () => {
  it('says what was asked, and neither where nor with what', async () => {
    const client = createChainClient('http://127.0.0.1:1/api-key', 'submit')
    const params = [{ to: `0x${'aa'.repeat(20)}`, data: '0xdeadbeef' }, 'latest'] as const
    const asked = client.request({ method: 'eth_call', params: [...params] })
    const error: unknown = await orUnreachable('nonce', asked).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ChainUnreachable)
    expect((error as Error).message).to.equal('no answer from the chain: nonce')

    let logged = ''
    const sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        logged += chunk.toString()
        done()
      },
    })
    createLog('test', 'info', sink).info({ err: error }, 'line')
    expect(logged).to.include('HTTP request failed')
    expect(logged).to.not.match(/api-key|deadbeef|127\.0\.0\.1/)
  })

  it('says so where the node limits how much it is asked', async () => {
    const limit = new HttpRequestError({ url: 'http://127.0.0.1:1/api-key', status: 429 })
    const error: unknown = await orUnreachable('nonce', Promise.reject(limit)).catch(
      (thrown: unknown) => thrown,
    )
    expect((error as Error).message).to.equal(
      'no answer from the chain: nonce (the node limits how much it is asked)',
    )
  })

  it('is not what a broken invariant shows, wrapped or not', async () => {
    const broken = new InvariantBroken('a defect')
    for (const error of [broken, new Error('viem', { cause: broken })]) {
      const failed = await orUnreachable('nonce', Promise.reject(error)).catch((e: unknown) => e)
      expect(failed).to.equal(broken)
    }
  })
})
