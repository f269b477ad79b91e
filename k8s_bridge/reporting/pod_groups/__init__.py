"""The statuses of PodGroups, in each of the three dialects that have one."""
