"""What each field of the config means, in a sentence."""

from __future__ import annotations

MEANINGS: dict[str, str] = {
    "schedulerNames": "Values of `schedulerName` whose pods Fourleaf places.",
    "gpuResources": "Resources that count as GPUs.",
    "scoringWeights": "Weight of each term of the score, by name; custom terms included.",
    "strategies[NAME].factors": "By what the strategy multiplies the weights of terms.",
    "strategies[NAME].leaves": "Whether `domainUtilization` favours full or empty leaves.",
    "strategies[NAME].mostPerNode": "Share of a gang's pods, or of an owner's replicas, that may "
    "stand on one node; 0 is an even share.",
    "strategies[NAME].mostPerLeaf": "The same for a leaf.",
    "strategies[NAME].spread": "What each pod beyond these shares costs, on the weights' scale.",
    "strategies[NAME].fewestNodes": "What a node costs that holds few of the pods, on that scale.",
    "strategies[NAME].onePerNode": "Whether no two pods of a gang may share a node, as a law.",
    "strategies[NAME].topologyPolicy": "The topology policy of gangs that state none.",
    "defaultStrategies.gangs": "Strategy of pods that start together and name none.",
    "defaultStrategies.replicas": "The same of replicas of an owner, each started by itself.",
    "defaultStrategies.others": "The same of pods alone.",
    "penalties.bandwidth": "Weight of crossing uplinks, on the scale of the weights.",
    "penalties.domain": "Weight of places outside of a preferred domain; at 10 these are last.",
    "penalties.preferences": "Weight of nodes that a pod would rather not have, on the same scale.",
    "penalties.migration": "Has no effect; moves are as few as can be before any score counts.",
    "fragmentation.weight": "What room kept for likely gangs is worth.",
    "fragmentation.mix[].nodes": "Whole nodes of one shape; without a mix, the recent one.",
    "fragmentation.mix[].share": "Its share of all gangs.",
    "topology.preset": "Which labels name leaf and spine; without it, those that the nodes carry.",
    "topology.levels[].nodeLabel": "Node labels, coarse to fine, instead of a preset.",
    "topology.adjacency.kind": "Which leaves of a spine are adjacent.",
    "topology.adjacency.edges": "Pairs of adjacent leaves, for `explicit`.",
    "topology.windowSlack": "Leaves more than the fewest that a gang may take.",
    "topology.unlabelled": "How a GPU node without a leaf is treated.",
    "topologyConstraints.maxNodesPerLeaf": "Most nodes of one gang in one leaf.",
    "topologyConstraints.maxGPUsPerLeaf": "Most GPUs of one gang in one leaf.",
    "topologyConstraints.windowNodes": (
        "Most nodes of a gang that has to stand in a window; larger ones may use any leaves of one "
        "spine, the fewer the better."
    ),
    "topologyConstraints.rules[].nodes": "Node count that an exception from the leaf rule is for.",
    "topologyConstraints.rules[].leaves": "Adjacent leaves that such a gang may take.",
    "network.nodeBandwidth": "Bandwidth of nodes that state none.",
    "network.uplinkBandwidth": "Uplink capacity of leaves that `uplinks` does not name.",
    "network.uplinks": "Uplink capacity by leaf.",
    "network.requireStated": "Whether gangs that ask for bandwidth wait where no node states any.",
    "batch.size": "Most gangs in one cycle.",
    "batch.ageStepSeconds": "How long a gang waits for one step of age.",
    "solver.timeLimitSeconds": "Longest solve; reaching it costs optimality, never a placement.",
    "messages.otherNamespaces": "Whether conditions and events name gangs and pods of other "
    "namespaces. Command and dashboard do in what they plan themselves; they quote conditions "
    "as they are.",
    "solver.memoryLimitMiB": "Most memory of the solver process; less where its container has less "
    "left.",
    "solver.seed": "Seed of the solver.",
    "solver.gap": "How far from the best the places of a large batch, or of one beside likely "
    "gangs that may use any leaves, may be, as a share of its points; 0 asks for the best. A small "
    "batch always has them.",
    "namespaces[NAME].gpuQuota": "Most GPUs of the namespace at a time; `*` is every other one.",
    "namespaces[NAME].domains": "Leaves and spines that it may use.",
    "namespaces[NAME].maxGangs": "Most gangs of it in a batch.",
    "namespaces[NAME].maxMembers": "Most pods of it in a batch.",
    "namespaces[NAME].maxSolveSeconds": "Most seconds of the solver for it in a minute, "
    "where other namespaces have gangs; half a second of each solve is free.",
    "namespaces[NAME].maxEvictions": "Most pods of other namespaces that go for its gangs in an "
    "hour: in preemptions, in defragmentation, and in repairs where no node was lost; where there "
    "were none, one gang may have as many evicted as it needs.",
    "failures.silentSeconds": "Silence of a kubelet after which its host is probed.",
    "failures.wellSeconds": "How long a node has to be well before it is used again.",
    "failures.conditions": "Types of node conditions that mean a failure where they are true.",
    "failures.halfLifeHours": "Half-life of a failure.",
    "repair.enabled": "Whether gangs that lose members are repaired.",
    "repair.policy": "Repair policy of gangs that name none.",
    "repair.placesSeconds": "How long places are kept for members that have yet to come back.",
    "repair.placesLimitSeconds": "The same while their Job, ReplicaSet or StatefulSet is to make "
    "them.",
    "repair.endLostPodsAtOnce": "Whether pods on a node that is found dead, and those that are to "
    "end there, are gone without its kubelet, as StatefulSets need it.",
    "preemption.enabled": "Whether gangs may take the place of lower ones.",
    "preemption.afterSeconds": "How long a gang waits before it preempts.",
    "preemption.windowSeconds": "How long until it, or once it is gone its namespace, may again; "
    "twice as long each time that its members end within that.",
    "defragmentation.everySeconds": "How often moves that make room are looked for; 0: when asked.",
    "defragmentation.movesPerHour": "Most moves in an hour.",
    "defragmentation.perGangPerDay": "Most moves of one gang in a day.",
    "defragmentation.minimumRuntimeSeconds": "How long a gang runs before it may be moved.",
    "backfill.enabled": "Whether gangs that waited for long have room kept, and turns in a quota.",
    "backfill.afterSeconds": (
        "How long a gang waits before room is kept for it, and for how long its namespace may keep "
        "more idle than its share."
    ),
    "ownerKinds[].group": "API group of a kind of objects whose pods start together.",
    "ownerKinds[].versions": "Its API versions; the first that is served is followed.",
    "ownerKinds[].kind": "The kind; it counts in place of the built-in entry for it.",
    "ownerKinds[].resource": "Plural of the kind, as in the paths of the API.",
    "ownerKinds[].nameLabel": "Label of the pods with the object's name, beside owner references.",
    "ownerKinds[].roleLabel": "Label of the pods with their role; each role is a gang of its own.",
    "ownerKinds[].entryLabel": "Label of the pods with the name of their entry of `podSets`.",
    "ownerKinds[].leastMembers": "Field that says how many may start, where not all have to.",
    "ownerKinds[].suspend": "Field that is true while the object makes no pods yet.",
    "ownerKinds[].countsEnded": "Whether members that have succeeded count as there.",
    "ownerKinds[].unsupported": "Fields that hold the gang as `Unsupported` where they are set.",
    "ownerKinds[].podSets[].path": "Where pods are described; `*` is each entry of a list or map.",
    "ownerKinds[].podSets[].replicas": "Field below `path` with their number; null: one pod.",
    "ownerKinds[].podSets[].defaultReplicas": "Their number where that field is not set.",
    "ownerKinds[].podSets[].template": "Field below `path` with their template.",
    "ownerKinds[].podSets[].where": "Fields and values with which alone these pods are made.",
    "ownerKinds[].podSets[].unless": "Fields and values with which these pods come later.",
    "ownerKinds[].podSets[].role": "Value of `roleLabel` that these pods have.",
    "ledger.format": "Format of the scheduler's Leases: 1 until every replica reads 2.",
    "devices.mode": "Who chooses devices: the scheduler by annotation, the kubelet, or claims.",
    "devices.untold": "What becomes of pods that are not told their devices, in mode `env`.",
    "devices.requireLimits": "Whether annotations give GPUs only to pods with as many in limits.",
    "devices.deviceClasses": "Device classes of GPUs, which ResourceClaims are for in mode `dra`.",
}
"""Path of a field -> its meaning. A test wants one for each field, and none for others."""
