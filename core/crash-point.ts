/**
 * The points at which a crash is most dangerous: between two steps that belong together. Each occurs once in the code, as
 * `crash('<point>')`.
 */
export const CRASH_POINTS = [
  'lead.before_term',
  'lead.after_term',
  'intake.after_registration',
  'intake.before_checks',
  'intake.after_signature',
  'intake.before_barrier',
  'intake.after_barrier',
  'intake.before_append',
  'intake.after_publish_before_ack',
  'intake.after_ack_before_fold',
  'intake.in_store',
  'intake.after_fold',
  'intake.shutdown_mid_drain',
  'matcher.after_read',
  'matcher.after_apply_before_publish',
  'matcher.after_publish_before_ack',
  'matcher.after_ack_before_answer',
  'matcher.after_answer_before_settle',
  'matcher.after_result_before_report',
  'matcher.after_report_before_ack',
  'matcher.replay_mid',
  'matcher.fence_detected',
  'executor.after_request',
  'executor.before_journal',
  'sender.after_sign_before_record',
  'sender.after_record_before_append',
  'sender.after_append_before_broadcast',
  'sender.during_broadcast',
  'sender.after_broadcast_before_mark',
  'sender.after_receipt_before_mark',
  'sender.after_mark_before_answer',
  'sender.before_bump_record',
  'sender.after_bump_record_before_append',
  'sender.during_gap_fill',
  'sender.during_reorg_rollback',
  'sender.recovery_mid',
  'journal.before_append',
  'journal.after_append_before_ack',
  'journal.after_ack_before_fold',
  'journal.in_fold',
  'trim.before_snapshot',
  'trim.in_snapshot',
  'trim.after_snapshot_before_deletion',
  'trim.after_deletion',
  'transfer.after_append_before_record',
  'transfer.after_claim',
  'transfer.after_simulate',
  'transfer.after_permit_sent',
  'transfer.after_permit_mined',
  'transfer.after_receipt_before_mark',
  'transfer.in_mark',
  'transfer.after_mark_before_answer',
  'transfer.recovery_mid',
  'listing.before_order',
  'listing.after_order',
  'market_order.registration_in_flight',
  'market_order.change_in_flight',
] as const

export type CrashPoint = (typeof CRASH_POINTS)[number]

/** Points at which a request to another process is in flight. */
export const IN_FLIGHT: ReadonlySet<CrashPoint> = new Set<CrashPoint>([
  'intake.after_publish_before_ack',
  'matcher.after_publish_before_ack',
  'matcher.after_report_before_ack',
  'sender.during_broadcast',
  'journal.after_append_before_ack',
  'market_order.registration_in_flight',
  'market_order.change_in_flight',
])

/** Called each time a point is passed; an error it throws propagates from that point. */
export type CrashHandler = (point: CrashPoint) => void

let handler: CrashHandler | undefined

/** Marks a point of the code. Does nothing unless a test has armed a handler. */
export function crash(point: CrashPoint): void {
  handler?.(point)
}

/** Sets the handler for all points of this process; undefined removes it. */
export function armCrashPoints(armed: CrashHandler | undefined): void {
  handler = armed
}
