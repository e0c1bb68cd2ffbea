import { expect } from 'chai'
import fc from 'fast-check'
import { decodeGasStanding, encodeGasStanding } from '../../bus-schemas/gas-standing.js'
import {
  askGasStanding,
  askTransfer,
  askTransferRecord,
  transferSubject,
} from '../../bus-schemas/subjects.js'
import {
  type TransferAnswer,
  decodeTransferAnswer,
  decodeTransferLookup,
  decodeTransferProgress,
  decodeTransferRequest,
  encodeTransferAnswer,
  encodeTransferLookup,
  encodeTransferProgress,
  encodeTransferRequest,
} from '../../bus-schemas/transfer-requests.js'
import { MalformedMessage, bytesOf } from '../../bus-schemas/wire.js'
import { permitRefused, tooManyAMinute, transferRefusals } from '../../core/transfer-refusals.js'
import type { TransferRecord } from '../../core/transfer.js'
import { anyHash, anyText } from '../support/arbitraries.js'
import { anyGasStanding, anyTransfer } from '../support/arbitrary-transfers.js'

const text = (data: Uint8Array): string => Buffer.from(data).toString('utf8')

describe('messages of deposits and withdrawals', () => {
  it('give a request back', () => {
    const anyRequest = fc.record({ request_id: anyText, client_address: anyText, body: anyText })
    fc.assert(
      fc.property(anyRequest, (request) => {
        expect(decodeTransferRequest(encodeTransferRequest(request))).to.deep.equal(request)
      }),
    )
  })

  it('give a lookup back', () => {
    fc.assert(
      fc.property(anyText, anyHash, (request_id, action_hash) => {
        const lookup = { request_id, action_hash }
        expect(decodeTransferLookup(encodeTransferLookup(lookup))).to.deep.equal(lookup)
      }),
    )
  })

  it('give a record back, as an answer and as progress', () => {
    fc.assert(
      fc.property(anyTransfer, (record) => {
        const answer: TransferAnswer = { kind: 'record', record }
        expect(decodeTransferAnswer(encodeTransferAnswer(answer))).to.deep.equal(answer)
        expect(decodeTransferProgress(encodeTransferProgress(record))).to.deep.equal(record)
      }),
    )
  })

  it('write equal records as equal bytes', () => {
    fc.assert(
      fc.property(anyTransfer, (record) => {
        const entries = Object.entries(record).reverse()
        const reversed = Object.fromEntries(entries) as unknown as TransferRecord
        expect(text(encodeTransferProgress(reversed))).to.equal(
          text(encodeTransferProgress(record)),
        )
      }),
    )
  })

  for (const refusal of [
    transferRefusals.actionExpired,
    permitRefused('EIP2612: invalid signature'),
    tooManyAMinute('deposit', 3, 17),
    { ...transferRefusals.signature, detail: { digest: '0x12', recovered: null } },
  ]) {
    it(`give back the refusal ${refusal.code}`, () => {
      const answer: TransferAnswer = { kind: 'refused', refusal }
      expect(decodeTransferAnswer(encodeTransferAnswer(answer))).to.deep.equal(answer)
    })
  }

  it('give back how a gas wallet stands', () => {
    fc.assert(
      fc.property(anyGasStanding, (standing) => {
        expect(decodeGasStanding(encodeGasStanding(standing))).to.deep.equal(standing)
      }),
    )
  })

  it('refuse a lookup of what is no hash, and fields nobody knows', () => {
    const lookup = (action_hash: string): Uint8Array =>
      bytesOf(JSON.stringify({ v: 2, request_id: 'r', action_hash }))
    for (const hash of ['0x12', `0x${'AB'.repeat(32)}`, 'ab'.repeat(32)]) {
      expect(() => decodeTransferLookup(lookup(hash))).to.throw(MalformedMessage)
    }
    const request = { v: 2, request_id: 'r', client_address: '::1', body: '{}', more: 1 }
    expect(() => decodeTransferRequest(bytesOf(JSON.stringify(request)))).to.throw(MalformedMessage)
  })

  it('travel on subjects of their kind', () => {
    const hash = `0x${'ab'.repeat(32)}` as const
    expect(askTransfer('deposit')).to.equal('ask.deposit.submit')
    expect(askTransferRecord('withdrawal')).to.equal('ask.withdrawal.look_up')
    expect(askGasStanding('deposit')).to.equal('ask.deposit.gas')
    expect(transferSubject('withdrawal', hash)).to.equal(`transfers.withdrawal.${'ab'.repeat(32)}`)
  })
})
