.build/
Package.resolved
kit
