// Command controlplane is etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl or
// kube-filters, by the name it is called with. One binary links the code that they share only
// once, which makes the cold build less than half as long as one build each.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// More programs of this binary, by name; with_filters.go adds one.
var others = map[string]func(){}

func main() {
	name := filepath.Base(os.Args[0])
	if other, ok := others[name]; ok {
		other()
		return
	}
	var command *cobra.Command
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "kube-apiserver":
		command = apiserver.NewAPIServerCommand()
	case "kube-controller-manager":
		command = manager.NewControllerManagerCommand()
	case "kube-scheduler":
		command = scheduler.NewSchedulerCommand()
	case "kubectl":
		command = kubectl.NewDefaultKubectlCommand()
	default:
		fmt.Fprintf(os.Stderr, "called as %q; link it as etcd, kube-apiserver, "+
			"kube-controller-manager, kube-scheduler, kubectl or kube-filters\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(command))
}
