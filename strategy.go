package minipg

import (
	"slices"

	"github.com/minipg/minipg/engine/settings"
	"github.com/minipg/minipg/metrics"
)

// strategySettings are the settings of the experiments, of which a run's metrics have to say what they were.
var strategySettings = []settings.ID{
	settings.RelationExtensionLock, settings.RelationExtensionLockEntries, settings.RelationExtensionPolicy,
	settings.RelationExtensionBlocks, settings.RelationExtensionPrepare, settings.RelationExtensionPublish,
	settings.RelationExtensionRecheck, settings.BtreeLeafLock, settings.BtreeFastpath,
	settings.BtreeCombine,
}

// addStrategy shows the server's values; a session may have set others for itself.
func addStrategy(m *metrics.Set, set *settings.Server) {
	var names []string
	for _, id := range strategySettings {
		names = append(names, settings.ByID(id).Name)
	}
	m.AddInfo("minipg_strategy_info", "The server's settings of extension and leaf latching, as labels.",
		slices.Clone(names), func() []string {
			var values []string
			for _, id := range strategySettings {
				values = append(values, set.Str(id))
			}
			return values
		})
}
