package local

import "sync"

// maxTogether is how many searches a pass takes, so that none waits long for
// many others.
const maxTogether = 16

// passes lets searches that come while others are on their way share the next
// pass over the rows, which memory is too slow to make for each of them.
type passes struct {
	mu      sync.Mutex
	running bool
	waiting []*search
	idle    sync.WaitGroup
}

// join returns when the search is done or its context.
func (p *passes) join(s *search) {
	p.mu.Lock()
	p.waiting = append(p.waiting, s)
	if !p.running {
		p.running = true
		p.idle.Go(p.run)
	}
	p.mu.Unlock()
	select {
	case <-s.done:
	case <-s.ctx.Done():
	}
}

// run makes passes until nobody waits. It is no caller's own work, as one that
// is cancelled returns at once.
func (p *passes) run() {
	for {
		p.mu.Lock()
		if len(p.waiting) == 0 {
			p.running = false
			p.mu.Unlock()
			return
		}
		together, later := p.waiting[:0:0], p.waiting[:0:0]
		for _, s := range p.waiting {
			if s.snapshot == p.waiting[0].snapshot && len(together) < maxTogether {
				together = append(together, s)
			} else {
				later = append(later, s)
			}
		}
		p.waiting = later
		p.mu.Unlock()
		pass(together)
	}
}

// wait returns when the pass that searches have left behind is over.
func (p *passes) wait() { p.idle.Wait() }
