package txn

import (
	"context"
	"runtime"

	"github.com/minipg/minipg/locks"
)

// WaitFor waits until xid (a subtransaction: until it or its
// parents) ended. tx is the transaction that waits.
func (m *Manager) WaitFor(ctx context.Context, tx *Tx, xid XID, opts WaitOptions) error {
	lockOpts := locks.LockOptions{NoWait: opts.NoWait, Timeout: tx.lockTimeout}
	for {
		if status, _ := m.Status(xid); status != InProgress {
			return nil
		}
		if err := tx.sess.WaitXID(ctx, uint64(xid), lockOpts); err != nil {
			return err
		}
		if status, _ := m.Status(xid); status != InProgress {
			return nil
		}
		// The XID was released into its parent's, or is between two locks of the same owner.
		if top := m.TopXID(xid); top != xid {
			if err := tx.sess.WaitXID(ctx, uint64(top), lockOpts); err != nil {
				return err
			}
		}
		runtime.Gosched()
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
}
