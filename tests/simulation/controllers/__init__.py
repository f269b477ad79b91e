"""The controllers of those who own gangs: Jobs, JobSets and PyTorchJobs."""
