import { expect } from 'chai'
import {
  BUS_USERS,
  mayChange,
  mayCreate,
  permissionsOf,
  type BusUser,
} from '../../bus-schemas/permissions.js'
import {
  cancelProofs,
  checkpointsSubject,
  claimsStream,
  claimSubject,
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
  inboxPrefix,
  journalStream,
  journalSubject,
  liquidationsStream,
  liquidationsSubject,
  operatorNonces,
  registerStream,
  registerSubject,
  socketNonces,
  transfersStream,
  transferSubject,
} from '../../bus-schemas/subjects.js'
import { JOURNAL_OWNERS } from '../../core/transaction-journal.js'

const M = 'cNGN-USDC'
const HASH = `0x${'ab'.repeat(32)}` as const

/** As the server matches. */
function fits(pattern: string, subject: string): boolean {
  const parts = pattern.split('.')
  const tokens = subject.split('.')
  if (parts.at(-1) === '>') {
    return (
      tokens.length >= parts.length && parts.slice(0, -1).every((it, at) => one(it, tokens[at]))
    )
  }
  return parts.length === tokens.length && parts.every((it, at) => one(it, tokens[at]))
}
const one = (part: string, token: string | undefined): boolean => part === '*' || part === token

const mayPublish = (user: BusUser, subject: string): boolean => {
  const { allow, deny } = permissionsOf(user).publish
  return allow.some((it) => fits(it, subject)) && !deny.some((it) => fits(it, subject))
}
const publishers = (subject: string): BusUser[] =>
  BUS_USERS.filter((user) => mayPublish(user, subject))

describe('the permissions of the bus', () => {
  it('let a process create and change the streams that the server lets it, and no other', () => {
    const streams = [
      ...[commandsStream(M), feedStream(M), transfersStream, claimsStream(cancelProofs)],
      ...[registerStream, liquidationsStream],
      ...JOURNAL_OWNERS.map(journalStream),
    ]
    for (const stream of streams) {
      const creators = publishers(`$JS.API.STREAM.CREATE.${stream}`)
      expect(creators, stream).to.have.length.above(0).and.below(BUS_USERS.length)
      expect(
        BUS_USERS.filter((user) => mayCreate(user, stream)),
        stream,
      ).to.deep.equal(creators)
      expect(
        BUS_USERS.filter((user) => mayChange(user, stream)),
        stream,
      ).to.deep.equal(publishers(`$JS.API.STREAM.UPDATE.${stream}`))
    }
  })

  it('let each subject of durable messages have its writers, and no others', () => {
    const writers: Readonly<Record<string, readonly BusUser[]>> = {
      [feedSubject(M)]: ['matcher'],
      [checkpointsSubject(M)]: ['matcher'],
      [commandsSubject(M)]: ['operator'],
      [commandsSubject(M, 'matcher')]: ['matcher'],
      [commandsSubject(M, 'order-intake')]: ['order-intake'],
      [commandsSubject(M, 'chain-reader')]: ['chain-reader'],
      [transferSubject('deposit', HASH)]: ['deposit-submitter'],
      [transferSubject('withdrawal', HASH)]: ['withdrawal-submitter'],
      [journalSubject('executor')]: ['executor', 'operator'],
      [journalSubject('deposit-submitter')]: ['deposit-submitter', 'operator'],
      [journalSubject('withdrawal-submitter')]: ['withdrawal-submitter', 'operator'],
      [journalSubject('keeper')]: ['keeper', 'operator'],
      [claimSubject(socketNonces, 'n')]: ['ws-fanout'],
      [claimSubject(cancelProofs, 'n')]: ['order-intake'],
      [claimSubject(operatorNonces, 'n')]: ['order-intake', 'matcher'],
      [registerSubject]: ['order-intake'],
      [liquidationsSubject]: ['chain-reader'],
    }
    for (const [subject, users] of Object.entries(writers))
      expect(publishers(subject), subject).to.deep.equal(users)
  })

  it('let the keeper of a stream alone create, change and trim it, and no user delete', () => {
    const keepers: Readonly<Record<string, readonly BusUser[]>> = {
      [`FEED_${M}`]: ['matcher'],
      [`CHECKPOINTS_${M}`]: ['matcher'],
      [`COMMANDS_${M}`]: ['matcher'],
      TRANSFERS: ['deposit-submitter', 'withdrawal-submitter'],
      LIQUIDATIONS: ['chain-reader'],
    }
    for (const [stream, users] of Object.entries(keepers))
      for (const verb of ['CREATE', 'UPDATE', 'PURGE']) {
        const others: BusUser[] = []
        if (verb === 'UPDATE') others.push('operator')
        const found = publishers(`$JS.API.STREAM.${verb}.${stream}`)
        expect(found, `${verb} ${stream}`).to.have.members([...users, ...others])
      }
    for (const owner of JOURNAL_OWNERS) {
      const stream = journalStream(owner)
      for (const verb of ['CREATE', 'UPDATE'])
        expect(publishers(`$JS.API.STREAM.${verb}.${stream}`)).to.have.members([owner, 'operator'])
      expect(publishers(`$JS.API.STREAM.PURGE.${stream}`)).to.deep.equal([owner])
    }
    // What is registered stays.
    expect(publishers('$JS.API.STREAM.CREATE.MARKETS')).to.deep.equal(['order-intake'])
    expect(publishers('$JS.API.STREAM.PURGE.MARKETS')).to.deep.equal([])
    for (const stream of [...Object.keys(keepers), 'MARKETS', 'KV_socket_nonces']) {
      expect(publishers(`$JS.API.STREAM.DELETE.${stream}`)).to.deep.equal([])
      expect(publishers(`$JS.API.STREAM.MSG.DELETE.${stream}`)).to.deep.equal([])
    }
    expect(publishers('$JS.API.STREAM.PURGE.KV_socket_nonces')).to.deep.equal([])
    expect(publishers('$JS.API.STREAM.CREATE.KV_socket_nonces')).to.deep.equal(['ws-fanout'])
  })

  it('let each user hear its own answers, and those that it asks answer it', () => {
    for (const user of BUS_USERS) {
      const inbox = `${inboxPrefix(user)}.a.b`
      const hearing = BUS_USERS.filter((each) =>
        permissionsOf(each).subscribe.allow.some((it) => fits(it, inbox)),
      )
      expect(hearing, inbox).to.deep.equal([user])
    }
    expect(publishers(`${inboxPrefix('gateway')}.a.b`)).to.include.members([
      'order-intake',
      'matcher',
      'ws-fanout',
      'deposit-submitter',
    ])
    expect(publishers(`${inboxPrefix('chain-reader')}.a.b`)).to.deep.equal([
      'order-intake',
      // Another copy says that it works.
      'chain-reader',
    ])
    // Another one of its name, and a restore, say that they write its journal.
    expect(publishers(`${inboxPrefix('deposit-submitter')}.a.b`)).to.deep.equal([
      'deposit-submitter',
      'operator',
    ])
    expect(publishers(`${inboxPrefix('operator')}.a.b`)).not.to.include('gateway')
  })

  it('let only the operator and no process of the venue take and restore snapshots', () => {
    expect(publishers(`$JS.API.STREAM.SNAPSHOT.FEED_${M}`)).to.deep.equal(['operator'])
    expect(publishers(`$JS.API.STREAM.RESTORE.FEED_${M}`)).to.deep.equal(['operator'])
  })
})
