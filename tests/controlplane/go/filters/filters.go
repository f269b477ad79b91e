// Package filters answers, for clusters given as JSON, which nodes the filters of kube-scheduler
// leave a pod. It is the oracle for what Fourleaf's own readers say.
package filters

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	feature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	scheduling "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// atOnce is how many cases wait for their informers at the same time.
const atOnce = 32

// optional are predicates that a cluster may have turned on.
const optional = "TaintTolerationComparisonOperators=true"

// used are the plugins that say where a pod may go; the first two have to be there.
var used = []string{
	names.PrioritySort,
	names.DefaultBinder,
	names.NodeUnschedulable,
	names.NodeName,
	names.TaintToleration,
	names.NodeAffinity,
	names.NodeDeclaredFeatures,
	names.NodePorts,
	names.NodeResourcesFit,
	names.VolumeRestrictions,
	names.VolumeBinding,
	names.VolumeZone,
	names.NodeVolumeLimits,
	names.PodTopologySpread,
	names.InterPodAffinity,
}

// request is a cluster and the pod that is asked about.
type request struct {
	Nodes       []*corev1.Node                  `json:"nodes"`
	Pods        []*corev1.Pod                   `json:"pods"`
	Claims      []*corev1.PersistentVolumeClaim `json:"claims"`
	Volumes     []*corev1.PersistentVolume      `json:"volumes"`
	Classes     []*storagev1.StorageClass       `json:"classes"`
	Drivers     []*storagev1.CSIDriver          `json:"drivers"`
	Capacities  []*storagev1.CSIStorageCapacity `json:"capacities"`
	Limits      []*storagev1.CSINode            `json:"limits"`
	Attachments []*storagev1.VolumeAttachment   `json:"attachments"`
	Namespaces  []*corev1.Namespace             `json:"namespaces"`
	Pod         *corev1.Pod                     `json:"pod"`
}

// answer says for each node why it is refused, "" where it is not.
type answer struct {
	Nodes map[string]string `json:"nodes"`
	Error string            `json:"error,omitempty"`
}

// Main answers each line of standard input with a line of standard output, in order.
func Main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	metrics.Register()
	if err := feature.DefaultMutableFeatureGate.Set(optional); err != nil {
		panic(err)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	var found []chan answer
	slots := make(chan struct{}, atOnce)
	for in.Scan() {
		line := append([]byte(nil), in.Bytes()...)
		one := make(chan answer, 1)
		found = append(found, one)
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			one <- judged(line)
		}()
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, one := range found {
		if err := json.NewEncoder(out).Encode(<-one); err != nil {
			panic(err)
		}
	}
}

func judged(line []byte) (said answer) {
	defer func() {
		if failure := recover(); failure != nil {
			said = answer{Error: fmt.Sprint(failure)}
		}
	}()
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	nodes, err := judge(asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Nodes: nodes}
}

func judge(asked request) (map[string]string, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client := fake.NewClientset(objects(asked)...)
	factory := informers.NewSharedInformerFactory(client, 0)
	snapshot := cache.NewSnapshot(asked.Pods, asked.Nodes)
	profile, err := profile()
	if err != nil {
		return nil, err
	}
	nodes := factory.Storage().V1().CSINodes().Lister()
	judge, err := scheduling.NewFramework(
		ctx, plugins.NewInTreeRegistry(), profile,
		scheduling.WithClientSet(client),
		scheduling.WithInformerFactory(factory),
		scheduling.WithSnapshotSharedLister(snapshot),
		scheduling.WithSharedCSIManager(nodevolumelimits.NewCSIManager(nodes)),
	)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return verdicts(ctx, judge, snapshot, asked.Pod)
}

func verdicts(
	ctx context.Context, judge framework.Framework, snapshot *cache.Snapshot, pod *corev1.Pod,
) (map[string]string, error) {
	state := framework.NewCycleState()
	left, status, _ := judge.RunPreFilterPlugins(ctx, state, pod)
	infos, err := snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, info := range infos {
		name := info.Node().Name
		switch {
		case !status.IsSuccess():
			found[name] = why(status.Plugin(), status.Message())
		case !left.AllNodes() && !left.NodeNames.Has(name):
			found[name] = "left out before the filters"
		default:
			refused := judge.RunFilterPlugins(ctx, state, pod, info)
			found[name] = ""
			if !refused.IsSuccess() {
				found[name] = why(refused.Plugin(), refused.Message())
			}
		}
	}
	return found, nil
}

func why(plugin, message string) string {
	return fmt.Sprintf("%s: %s", plugin, message)
}

func objects(asked request) []runtime.Object {
	var found []runtime.Object
	for _, one := range asked.Nodes {
		found = append(found, one)
	}
	for _, one := range asked.Pods {
		found = append(found, one)
	}
	for _, one := range asked.Claims {
		found = append(found, one)
	}
	for _, one := range asked.Volumes {
		found = append(found, one)
	}
	for _, one := range asked.Classes {
		found = append(found, one)
	}
	for _, one := range asked.Drivers {
		found = append(found, one)
	}
	for _, one := range asked.Capacities {
		found = append(found, one)
	}
	for _, one := range asked.Limits {
		found = append(found, one)
	}
	for _, one := range asked.Attachments {
		found = append(found, one)
	}
	for _, one := range asked.Namespaces {
		found = append(found, one)
	}
	return found
}

var defaults = sync.OnceValues(latest.Default)

func profile() (*config.KubeSchedulerProfile, error) {
	whole, err := defaults()
	if err != nil {
		return nil, err
	}
	usual := whole.Profiles[0]
	chosen := &config.KubeSchedulerProfile{SchedulerName: "filters", Plugins: &config.Plugins{}}
	for _, name := range used {
		one := config.Plugin{Name: name}
		chosen.Plugins.MultiPoint.Enabled = append(chosen.Plugins.MultiPoint.Enabled, one)
		for _, more := range usual.PluginConfig {
			if more.Name == name {
				chosen.PluginConfig = append(chosen.PluginConfig, more)
			}
		}
	}
	return chosen, nil
}
